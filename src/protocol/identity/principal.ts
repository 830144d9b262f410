import type { EmbedGrant } from "./embed-grant.ts";
import type { ActorId, TenantId } from "./ids.ts";

/** What a token may do over HTTP. A token may hold further scopes, which tools and policies demand. */
export const SCOPES = [
  "chat",
  "runs:read",
  /** Runs and approvals of everybody in the tenant, not the caller's own alone. */
  "runs:read_all",
  "runs:operate",
  "approvals:read",
  "approvals:decide",
  "audit:read",
  "embed:mint",
  "tools:read",
  "policy:read",
  "policy:write",
  "connections:write",
] as const;
export type Scope = (typeof SCOPES)[number];

/** Who is asking; always from authentication, never from a body. */
export interface Principal {
  readonly tenantId: TenantId;
  readonly actorId: ActorId;
  /** On whose behalf the actor acts. */
  readonly subjectId?: ActorId | undefined;
  readonly scopes: readonly string[];
  /** What the person is to the tenant; policies ask for roles where people decide. */
  readonly roles: readonly string[];
  /** Present when the request came with a page's token: what that token is bound to. */
  readonly embed?: EmbedGrant | undefined;
}

/** Tells whether somebody may see what others of the tenant do. */
export function seesAll({ scopes }: Pick<Principal, "scopes">): boolean {
  return scopes.includes("runs:read_all") || scopes.includes("runs:operate");
}

/** The person on whose account a request is made. */
export function personOf({
  actorId,
  subjectId,
}: Pick<Principal, "actorId" | "subjectId">): ActorId {
  return subjectId ?? actorId;
}

/** Who acts, as an audit log names it. */
export function actorsOf({ actorId, subjectId }: Pick<Principal, "actorId" | "subjectId">): {
  readonly actorId: ActorId;
  readonly subjectId?: ActorId;
} {
  return { actorId, ...(subjectId !== undefined && { subjectId }) };
}
