import type { RunId, TenantId } from "../protocol/ids.ts";
import type { RunOwner } from "../protocol/viewer.ts";

/**
 * Makes run ids and tells a tenant's own from all others.
 * Contract: `verify` answers undefined for a foreign, a made-up and a malformed id alike, and touches
 * no storage.
 */
export interface RunIds {
  mint(tenantId: TenantId): Promise<RunId>;
  /** Makes the one id of all requests that an owner of runs makes under a key. */
  derive(owner: RunOwner, key: string): Promise<RunId>;
  verify(text: string, tenantId: TenantId): Promise<RunId | undefined>;
}
