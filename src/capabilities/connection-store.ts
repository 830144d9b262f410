import type { StoredConnection } from "../protocol/connection.ts";
import type { ConnectionId, TenantId } from "../protocol/ids.ts";

/**
 * Takes a tenant's credentials and never gives them back; the ConnectionBroker alone opens them.
 * Contract: both calls are idempotent; `put` replaces, `remove` of what is not there does nothing.
 * Throws when the storage fails.
 */
export interface ConnectionStore {
  put(tenantId: TenantId, connectionId: ConnectionId, connection: StoredConnection): Promise<void>;
  remove(tenantId: TenantId, connectionId: ConnectionId): Promise<void>;
}
