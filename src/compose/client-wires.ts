import type { ClientWires } from "../protocol/run/client-wire.ts";
import { assistantTransport } from "../wire/assistant-transport/wire.ts";

/** The client wires of this deployment, one line each; the first is the default. */
export const CLIENT_WIRES: ClientWires = [assistantTransport];
