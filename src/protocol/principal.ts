import type { ActorId, TenantId } from "./ids.ts";

/** What a token may do over HTTP. A token may hold further scopes, which tools and policies demand. */
export const SCOPES = [
  "chat",
  "runs:read",
  "runs:operate",
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
}
