import { createKeyRing } from "../../adapters/keys/key-ring.ts";
import { createSealedConnections } from "../../adapters/secrets/sealed-connections.ts";
import type { ConnectionBroker } from "../../capabilities/connection.ts";
import {
  connectionBody,
  connectionId,
  type StoredConnection,
} from "../../protocol/connection/stored.ts";
import * as v from "valibot";
import { TEST_TENANT } from "../run/person.ts";

const LOCAL = { allowsLoopback: true };

/** Connections by id, in the form of `PUT /v1/connections/:id`. */
export type TestConnections = Readonly<Record<string, StoredConnection>>;

/**
 * Stores connections in memory, sealed as in production, and opens them for invocations.
 * Fails: throws for a connection that the API would refuse.
 */
export async function storeConnections(connections: TestConnections): Promise<ConnectionBroker> {
  const values = new Map<string, string>();
  const kv = {
    get: (key: string) => Promise.resolve(values.get(key) ?? null),
    put: (key: string, value: string) => Promise.resolve(void values.set(key, value)),
  };
  const randomBytes = (length: number): Uint8Array<ArrayBuffer> =>
    crypto.getRandomValues(new Uint8Array(length));
  const keyRing = createKeyRing([{ id: "test", key: randomBytes(32) }], randomBytes);
  const sealed = createSealedConnections({
    kv: kv as unknown as KVNamespace,
    keyRing,
    addressRules: LOCAL,
  });
  for (const [id, connection] of Object.entries(connections)) {
    const [named, body] = [
      v.safeParse(connectionId, id),
      v.safeParse(connectionBody(LOCAL), connection),
    ];
    const [issue] = [...(named.issues ?? []), ...(body.issues ?? [])];
    if (!named.success || !body.success) {
      throw new Error(`The connection ${id} is not valid: ${issue?.message}`);
    }
    await sealed.put(TEST_TENANT, named.output, body.output);
  }
  return sealed;
}
