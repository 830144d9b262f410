import { createFingerprints } from "../../../src/adapters/keys/hmac-fingerprints.ts";
import type { RunId, TenantId } from "../../../src/protocol/identity/ids.ts";

/** RUN_ID_SECRET of the chaos Workers. */
export const ROOT_SECRET = "the root secret of every chaos Worker";
/** Tenant of the runs that are verified. */
export const VERIFIED_TENANT = "chaos";

const fingerprints = createFingerprints(ROOT_SECRET);

/** The fingerprint under which a run shows one of its idempotency keys. */
export function fingerprintKey(runId: string, key: string): Promise<string> {
  return fingerprints.of({ tenantId: VERIFIED_TENANT as TenantId, runId: runId as RunId }, key);
}
