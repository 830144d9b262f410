import type { StoredConnection, WebhookConnection } from "../protocol/connection/stored.ts";
import type { ConnectionId, TenantId } from "../protocol/identity/ids.ts";
import type { Operation } from "../protocol/invocation/record.ts";
import type { Result } from "../protocol/outcome/result.ts";

/**
 * Stores a tenant's credentials and never returns them. Only the ConnectionBroker opens them.
 * Contract: both calls are idempotent; `put` replaces; `remove` of an absent connection does
 * nothing.
 * Fails: throws when the storage fails.
 */
export interface ConnectionStore {
  put(tenantId: TenantId, connectionId: ConnectionId, connection: StoredConnection): Promise<void>;
  remove(tenantId: TenantId, connectionId: ConnectionId): Promise<void>;
}

/**
 * Gives the credentials of the one connection that an invocation may use. The connection is bound
 * before the tool runs, so no method takes an id. It ends with the invocation (seeds/000 #29a).
 * Contract: throws when the invocation is over. `getAccessToken` also throws when the connection is
 * a header and has no token. No error holds a secret.
 */
export interface AuthCapability {
  getAccessToken(): Promise<string>;
  getAuthHeaders(): Promise<Record<string, string>>;
}

/** Which call of a run uses a connection, and until when. */
export interface ConnectionUse {
  readonly signal: AbortSignal;
  /** Only a replay reads it. */
  readonly call?: Operation;
}

export type BrokerFailure = { readonly code: "unknown_connection" | "unreadable_connection" };

/** The connection of one invocation. */
export interface BoundConnection {
  readonly auth: AuthCapability;
  /** The secrets themselves. The runner masks them in everything that leaves the execution. */
  readonly secrets: readonly string[];
}

/**
 * Opens stored connections.
 * Contract: never throws and caches no secret. The caller has checked the grant. The capability
 * refuses as soon as the signal aborts, so the signal must be that of the invocation. A connection
 * of the kind `webhook` is unreadable here.
 */
export interface ConnectionBroker {
  bind(
    tenantId: TenantId,
    connectionId: ConnectionId,
    use: ConnectionUse,
  ): Promise<Result<BoundConnection, BrokerFailure>>;
}

/**
 * Opens stored connections of the kind `webhook`; any other one is unreadable here.
 * Contract: never throws and caches no secret.
 */
export interface WebhookBroker {
  openWebhook(
    tenantId: TenantId,
    connectionId: ConnectionId,
  ): Promise<Result<WebhookConnection, BrokerFailure>>;
}
