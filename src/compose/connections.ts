import { createKeyRing } from "../adapters/key-ring.ts";
import { createSealedConnections } from "../adapters/sealed-connections.ts";
import type { ConnectionBroker, ConnectionStore } from "../capabilities/connection.ts";
import type { Env } from "../env.ts";

/** Assembles both sides of the stored connections: `store` writes them, `broker` opens them. */
export function composeConnections({
  connectionsKv,
  connectionKeys,
}: Pick<Env, "connectionsKv" | "connectionKeys">): {
  readonly store: ConnectionStore;
  readonly broker: ConnectionBroker;
} {
  const keyRing = createKeyRing(connectionKeys, (length) =>
    crypto.getRandomValues(new Uint8Array(length)),
  );
  const connections = createSealedConnections({ kv: connectionsKv, keyRing });
  return { store: connections, broker: connections };
}
