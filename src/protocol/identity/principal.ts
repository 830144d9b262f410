import type { EmbedGrant } from "./embed-grant.ts";
import type { ActorId, TenantId } from "./ids.ts";

/** Scopes of the HTTP API. A token may have further scopes, which tools and policies require. */
export const SCOPES = [
  "chat",
  /** May send a `system` message of its own. */
  "chat:system",
  "runs:read",
  /** All runs and approvals of the tenant, not only the caller's own. */
  "runs:read_all",
  "runs:operate",
  "approvals:read",
  "approvals:decide",
  "audit:read",
  "metrics:read",
  "embed:mint",
  "tools:read",
  "policy:read",
  "policy:write",
  "assistants:read",
  "assistants:write",
  "connections:write",
  "providers:read",
  "providers:write",
  "people:export",
  "people:erase",
] as const;
export type Scope = (typeof SCOPES)[number];

/** The authenticated caller of a request; never read from a body. */
export interface Principal {
  readonly tenantId: TenantId;
  readonly actorId: ActorId;
  /** The person for whom the actor acts. */
  readonly subjectId?: ActorId | undefined;
  readonly scopes: readonly string[];
  /** Roles in the tenant; approval rules of a policy name them. */
  readonly roles: readonly string[];
  /** Present for an embed token: the limits of that token. */
  readonly embed?: EmbedGrant | undefined;
}

/** Tells whether a principal may see the runs of other callers of the tenant. */
export function seesAll({ scopes }: Pick<Principal, "scopes">): boolean {
  return scopes.includes("runs:read_all") || scopes.includes("runs:operate");
}

/** Reads the person for whom a request is made: the subject, or else the actor. */
export function personOf({
  actorId,
  subjectId,
}: Pick<Principal, "actorId" | "subjectId">): ActorId {
  return subjectId ?? actorId;
}

/** Tells whether an actor acts for another person. */
export function isDelegate({
  actorId,
  subjectId,
}: Pick<Principal, "actorId" | "subjectId">): boolean {
  return subjectId !== undefined && subjectId !== actorId;
}

/** Who makes a request, in the form of the audit log. */
export interface Actors {
  readonly actorId: ActorId;
  readonly subjectId?: ActorId;
  /** The actor who minted the embed token of the request. */
  readonly minterId?: ActorId;
}

/** Reads who makes a request. */
export function actorsOf({
  actorId,
  subjectId,
  embed,
}: Pick<Principal, "actorId" | "subjectId" | "embed">): Actors {
  return {
    actorId,
    ...(subjectId !== undefined && { subjectId }),
    ...(embed?.minterId && { minterId: embed.minterId }),
  };
}
