import { toActor } from "../../protocol/identity/api-token.ts";
import type { ActorId, RunId, TenantId } from "../../protocol/identity/ids.ts";
import type { Principal } from "../../protocol/identity/principal.ts";

/** The tenant of everybody in a test. */
export const TEST_TENANT = "acme" as TenantId;

/** Every run of a test has this id. */
export const TEST_RUN_ID = `run_${"0".repeat(31)}1_${"0".repeat(32)}` as RunId;

/** What a person of a test may do. Default: no role and no scope. */
export interface PersonRights {
  readonly roles?: readonly string[];
  readonly scopes?: readonly string[];
}

/**
 * Makes a caller of the tenant `acme`. The id of `ann` is `user:ann`; a name that begins with a
 * kind is a whole id, such as `service:billing`.
 */
export function person(name: string, { roles = [], scopes = [] }: PersonRights = {}): Principal {
  return { tenantId: TEST_TENANT, actorId: toActor(name, "user") as ActorId, roles, scopes };
}
