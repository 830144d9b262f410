import type { ConnectionId, TenantId } from "../protocol/ids.ts";
import type { Result } from "../protocol/result.ts";

/**
 * Credentials of the one connection an invocation may use. It takes no id: it is bound before the tool
 * sees it and dies with the invocation (seeds/000 #29a).
 * Contract: throws when the connection is gone or the invocation is over.
 */
export interface AuthCapability {
  getAccessToken(): Promise<string>;
  getAuthHeaders(): Promise<Record<string, string>>;
}

export type BrokerFailure = { readonly code: "unknown_connection" | "unreadable_connection" };

/**
 * Opens stored connections, the only holder of their secrets.
 * Contract: never throws, never caches what it opened; whoever calls has checked the grant.
 */
export interface ConnectionBroker {
  bind(
    tenantId: TenantId,
    connectionId: ConnectionId,
  ): Promise<Result<AuthCapability, BrokerFailure>>;
}
