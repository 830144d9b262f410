import { toActor } from "../protocol/identity/api-token.ts";
import type { ActorId, TenantId } from "../protocol/identity/ids.ts";
import type { Principal } from "../protocol/identity/principal.ts";

/** The tenant of everybody in a test. */
export const TEST_TENANT = "acme" as TenantId;

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
