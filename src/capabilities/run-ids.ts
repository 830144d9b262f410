import type { RunId, TenantId } from "../protocol/identity/ids.ts";
import type { RunOwner, Viewer } from "../protocol/identity/viewer.ts";

/**
 * Makes and verifies run ids.
 * Contract: `verify` answers undefined for a foreign, an invented and a malformed id alike, and
 * reads no storage.
 */
export interface RunIds {
  mint(owner: RunOwner): Promise<RunId>;
  /** Derives the run id that all requests of one owner under one idempotency key share. */
  derive(owner: RunOwner, key: string): Promise<RunId>;
  /** The run id that the older secret derived, during a rotation. */
  deriveOlder(owner: RunOwner, key: string): Promise<RunId | undefined>;
  verify(text: string, tenantId: TenantId): Promise<RunId | undefined>;
  /**
   * Verifies likewise, and answers undefined for most runs that the viewer does not own, unless the
   * viewer sees or operates all runs. Contract: equal work for those and for an invented id. Only
   * the run's object knows the owner for certain.
   */
  verifyFor(text: string, viewer: Viewer): Promise<RunId | undefined>;
}
