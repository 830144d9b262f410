import type {
  AuthCapability,
  BrokerFailure,
  ConnectionBroker,
  ConnectionStore,
  WebhookBroker,
} from "../../capabilities/connection.ts";
import type { AddressRules } from "../../protocol/connection/service-address.ts";
import {
  parseConnection,
  type ServiceConnection,
  type StoredConnection,
} from "../../protocol/connection/stored.ts";
import type { ConnectionId, TenantId } from "../../protocol/identity/ids.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { createSealedValues, type OpenValue, type SealedValuePorts } from "./sealed-values.ts";

interface SealedConnectionPorts extends SealedValuePorts {
  readonly addressRules: AddressRules;
}

/** Stores connections as sealed values, and opens them for one invocation or one webhook. */
export function createSealedConnections(
  ports: SealedConnectionPorts,
): ConnectionStore & ConnectionBroker & WebhookBroker {
  const values = createSealedValues(ports, "connection");
  const open = async (value: OpenValue): Promise<StoredConnection | undefined> => {
    const opened = await value();
    return opened === undefined ? undefined : parseConnection(opened, ports.addressRules);
  };
  const find = async (
    tenantId: TenantId,
    connectionId: ConnectionId,
  ): Promise<Result<OpenValue, BrokerFailure>> => {
    const value = await values.read(tenantId, connectionId);
    return value.ok ? value : fail({ code: `${value.failure}_connection` });
  };
  return {
    put: (tenantId, connectionId, connection) =>
      values.put(tenantId, connectionId, JSON.stringify(connection)),
    remove: (tenantId, connectionId) => values.remove(tenantId, connectionId),
    async bind(tenantId, connectionId, { signal }) {
      const value = await find(tenantId, connectionId);
      if (!value.ok) return value;
      const openForTool = async (): Promise<ServiceConnection | undefined> => {
        const opened = await open(value.value);
        return opened?.kind === "webhook" ? undefined : opened;
      };
      const opened = await openForTool();
      if (!opened) return fail({ code: "unreadable_connection" });
      return ok({ auth: createAuth(openForTool, signal), secrets: secretsOf(opened) });
    },
    async openWebhook(tenantId, connectionId) {
      const value = await find(tenantId, connectionId);
      if (!value.ok) return value;
      const opened = await open(value.value);
      return opened?.kind === "webhook" ? ok(opened) : fail({ code: "unreadable_connection" });
    },
  };
}

/**
 * The texts that a service may repeat. Of a header with a scheme, such as `Basic`, the part after
 * the scheme is a secret too.
 */
function secretsOf(connection: ServiceConnection): readonly string[] {
  if (connection.kind === "bearer") return [connection.token];
  const { value } = connection;
  return [value, ...value.split(" ").slice(1)].filter((secret) => secret !== "");
}

function createAuth(
  open: () => Promise<ServiceConnection | undefined>,
  signal: AbortSignal,
): AuthCapability {
  const use = async (): Promise<ServiceConnection> => {
    const connection = signal.aborted ? undefined : await open();
    // Checked again, because opening takes time.
    if (signal.aborted)
      throw new Error(
        "the invocation is over, so its connection is closed; ask for credentials earlier",
      );
    if (!connection) throw new Error("the connection cannot be opened any more; store it again");
    return connection;
  };
  return {
    async getAccessToken() {
      const connection = await use();
      if (connection.kind === "bearer") return connection.token;
      throw new Error("the connection is a header and has no access token; use getAuthHeaders");
    },
    async getAuthHeaders() {
      const connection = await use();
      return connection.kind === "bearer"
        ? { authorization: `Bearer ${connection.token}` }
        : { [connection.name]: connection.value };
    },
  };
}
