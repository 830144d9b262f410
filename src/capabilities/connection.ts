import type { StoredConnection } from "../protocol/connection/stored.ts";
import type { ConnectionId, TenantId } from "../protocol/identity/ids.ts";
import type { Result } from "../protocol/outcome/result.ts";

/**
 * Takes a tenant's credentials and never gives them back; the ConnectionBroker alone opens them.
 * Contract: both calls are idempotent; `put` replaces, `remove` of what is not there does nothing.
 * Throws when the storage fails.
 */
export interface ConnectionStore {
  put(tenantId: TenantId, connectionId: ConnectionId, connection: StoredConnection): Promise<void>;
  remove(tenantId: TenantId, connectionId: ConnectionId): Promise<void>;
}

/**
 * Credentials of the one connection an invocation may use. It takes no id: it is bound before the tool
 * sees it and dies with the invocation (seeds/000 #29a).
 * Contract: throws when the invocation is over; `getAccessToken` also when the connection is a header
 * and has no token. What is thrown holds no secret.
 */
export interface AuthCapability {
  getAccessToken(): Promise<string>;
  getAuthHeaders(): Promise<Record<string, string>>;
}

export type BrokerFailure = { readonly code: "unknown_connection" | "unreadable_connection" };

/**
 * Opens stored connections, the only holder of their secrets.
 * Contract: never throws, never caches what it opened; whoever calls has checked the grant. The
 * capability refuses from the moment `signal` aborts, so the signal must be that of the invocation.
 */
export interface ConnectionBroker {
  bind(
    tenantId: TenantId,
    connectionId: ConnectionId,
    signal: AbortSignal,
  ): Promise<Result<AuthCapability, BrokerFailure>>;
}
