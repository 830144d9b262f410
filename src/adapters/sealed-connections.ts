import type {
  AuthCapability,
  ConnectionBroker,
  ConnectionStore,
} from "../capabilities/connection.ts";
import { parseConnection, type StoredConnection } from "../protocol/connection/stored.ts";
import type { ConnectionId, TenantId } from "../protocol/identity/ids.ts";
import { fail, ok } from "../protocol/outcome/result.ts";
import { parseSealedValue } from "../protocol/connection/sealed-value.ts";
import type { KeyRing } from "./key-ring.ts";

/** How long KV may answer from its edge cache; KV allows no shorter time. */
const CACHE_SECONDS = 30;

export interface SealedConnectionPorts {
  readonly kv: KVNamespace;
  readonly keyRing: KeyRing;
}

/**
 * Stores connections in KV under `connection/<tenant>/<id>`, sealed for exactly that tenant and id.
 * Threat: an attacker who can read or write the namespace. They learn no secret, and a value that
 * they change or move does not open.
 * Limit: they can restore an older value of the same connection.
 */
export function createSealedConnections({
  kv,
  keyRing,
}: SealedConnectionPorts): ConnectionStore & ConnectionBroker {
  return {
    async put(tenantId, connectionId, connection) {
      const text = JSON.stringify(connection);
      const value = await keyRing.seal(text, subjectOf(tenantId, connectionId));
      await kv.put(keyOf(tenantId, connectionId), JSON.stringify(value));
    },
    async remove(tenantId, connectionId) {
      await kv.delete(keyOf(tenantId, connectionId));
    },
    async bind(tenantId, connectionId, signal) {
      let text: string | null;
      try {
        text = await kv.get(keyOf(tenantId, connectionId), { cacheTtl: CACHE_SECONDS });
      } catch {
        return fail({ code: "unreadable_connection" });
      }
      if (text === null) return fail({ code: "unknown_connection" });
      const value = parseSealedValue(text);
      const open = async (): Promise<StoredConnection | undefined> => {
        const opened = value && (await keyRing.open(value, subjectOf(tenantId, connectionId)));
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

function keyOf(tenantId: TenantId, connectionId: ConnectionId): string {
  return `connection/${tenantId}/${connectionId}`;
}

function subjectOf(tenantId: TenantId, connectionId: ConnectionId): readonly string[] {
  return ["connection", tenantId, connectionId];
}
