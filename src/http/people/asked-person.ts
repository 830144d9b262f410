import type { ActorId } from "../../protocol/identity/ids.ts";
import type { WorkspaceAddress } from "../../protocol/workspace/address.ts";

/**
 * One person of the caller's tenant, and every place where a workspace of the tenant may be.
 * Threat: another tenant's person. All that is asked is the caller's own tenant, so such a person
 * is one of whom nothing is kept.
 */
export interface AskedPerson {
  readonly personId: ActorId;
  /** The keyed hash of the person. */
  readonly hash: string;
  readonly workspaces: readonly WorkspaceAddress[];
}
