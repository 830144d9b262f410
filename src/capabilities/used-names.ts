import type { Principal } from "../protocol/identity/principal.ts";

/** In whose name calls are made. */
export type NameOwner = Pick<Principal, "tenantId" | "actorId" | "subjectId">;

/**
 * Recipients, accounts and hosts that earlier calls of a person used, in any conversation.
 * Threat: what is stored tells whom a person wrote to. So it is keyed hashes: nobody without the
 * deployment's secret can try names, and one person's hashes say nothing about another's.
 */
export interface UsedNames {
  /** Hashes names, in their order. */
  hash(owner: NameOwner, names: readonly string[]): Promise<readonly string[]>;
  /**
   * Tells which of the names the person used before.
   * Contract: never throws. Where the records do not answer, none is known, so all count as new.
   */
  known(owner: NameOwner, names: readonly string[]): Promise<ReadonlySet<string>>;
}
