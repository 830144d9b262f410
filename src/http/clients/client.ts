import type { ClientWire } from "../../protocol/run/client-wire.ts";
import type { Routes } from "../request/authorise.ts";

/** A protocol that clients speak, and the addresses that its clients expect. */
export interface Client extends ClientWire {
  /** The runtime's own: what `clientWithRoutes` was given. */
  readonly routes?: unknown;
}

/** Gives a wire the addresses that its clients expect. */
export function clientWithRoutes(wire: ClientWire, routes: Routes): Client {
  return { ...wire, routes };
}

/** The clients that a deployment names; a reader that names none gets the wire of the first. */
export type Clients = readonly [Client, ...Client[]];

/** Lists the addresses of all clients. */
export function routesOfClients(clients: Clients): Routes {
  return Object.assign({}, ...clients.map(({ routes }) => routes as Routes | undefined));
}
