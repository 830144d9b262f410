import type { ActorId, TenantId } from "./ids.ts";

/** What a token may do over HTTP. */
export const SCOPES = ["chat", "runs:read", "tools:read"] as const;
export type Scope = (typeof SCOPES)[number];

/** Who is asking; always from authentication, never from a body. */
export interface Principal {
  readonly tenantId: TenantId;
  readonly actorId: ActorId;
  readonly scopes: readonly Scope[];
}
