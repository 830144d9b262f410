import type {
  AuthCapability,
  ConnectionBroker,
  ConnectionStore,
} from "../../capabilities/connection.ts";
import { parseConnection, type StoredConnection } from "../../protocol/connection/stored.ts";
import { fail, ok } from "../../protocol/outcome/result.ts";
import { createSealedValues, type SealedValuePorts } from "./sealed-values.ts";

/** Stores connections as sealed values, and opens them for one invocation. */
export function createSealedConnections(
  ports: SealedValuePorts,
): ConnectionStore & ConnectionBroker {
  const values = createSealedValues(ports, "connection");
  return {
    put: (tenantId, connectionId, connection) =>
      values.put(tenantId, connectionId, JSON.stringify(connection)),
    remove: (tenantId, connectionId) => values.remove(tenantId, connectionId),
    async bind(tenantId, connectionId, signal) {
      const value = await values.read(tenantId, connectionId);
      if (!value.ok) return fail({ code: `${value.failure}_connection` });
      const open = async (): Promise<StoredConnection | undefined> => {
        const opened = await value.value();
        return opened === undefined ? undefined : parseConnection(opened);
      };
      const opened = await open();
      if (!opened) return fail({ code: "unreadable_connection" });
      return ok({ auth: createAuth(open, signal), secrets: secretsOf(opened) });
    },
  };
}

/**
 * The texts that a service may repeat. Of a header with a scheme, such as `Basic`, the part after
 * the scheme is a secret too.
 */
function secretsOf(connection: StoredConnection): readonly string[] {
  if (connection.kind === "bearer") return [connection.token];
  const { value } = connection;
  return [value, ...value.split(" ").slice(1)].filter((secret) => secret !== "");
}

function createAuth(
  open: () => Promise<StoredConnection | undefined>,
  signal: AbortSignal,
): AuthCapability {
  const use = async (): Promise<StoredConnection> => {
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
