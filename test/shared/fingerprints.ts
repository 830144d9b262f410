import { env } from "cloudflare:workers";
import { createFingerprints } from "../../src/adapters/keys/hmac-fingerprints.ts";
import type { RunId, TenantId } from "../../src/protocol/identity/ids.ts";

const { RUN_ID_SECRET } = env as unknown as { RUN_ID_SECRET: string };
const fingerprints = createFingerprints(RUN_ID_SECRET);

/** Makes the fingerprint of a hash of a run, as the deployment under test does. */
export function fingerprintIn(tenantId: string, runId: string, hash: string): Promise<string> {
  return fingerprints.of({ tenantId: tenantId as TenantId, runId: runId as RunId }, hash);
}
