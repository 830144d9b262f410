import type { TenantId } from "./ids.ts";
import type { Principal } from "./principal.ts";

/**
 * Lists the roles that somebody of a tenant has.
 * Threat: the warnings about a policy tell one tenant the roles of another.
 */
export function knownRoles(
  people: readonly Pick<Principal, "tenantId" | "roles">[],
  tenantId: TenantId,
): ReadonlySet<string> {
  const own = people.filter((person) => person.tenantId === tenantId);
  return new Set(own.flatMap(({ roles }) => roles));
}
