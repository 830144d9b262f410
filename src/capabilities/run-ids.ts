import type { ActorId, RunId, TenantId } from "../protocol/ids.ts";

/**
 * Makes run ids and tells a tenant's own from all others.
 * Contract: `verify` answers undefined for a foreign, a made-up and a malformed id alike, and touches
 * no storage.
 */
export interface RunIds {
  mint(tenantId: TenantId): Promise<RunId>;
  /** Makes the one id of all requests that an actor makes under a key. */
  derive(tenantId: TenantId, actorId: ActorId, key: string): Promise<RunId>;
  verify(text: string, tenantId: TenantId): Promise<RunId | undefined>;
}
