import { chatRequestBody } from "../../protocol/run/chat-request.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";
import { ASSISTANT_TRANSPORT_HEADERS, encodeEvent, HEARTBEAT, TRAILER } from "./encode-event.ts";

/** The `assistant-transport` protocol of the `assistant-stream` package. */
export const assistantTransport: ClientWire = {
  name: "assistant-transport",
  revision: 1,
  headers: ASSISTANT_TRANSPORT_HEADERS,
  heartbeat: HEARTBEAT,
  trailer: TRAILER,
  requestBody: chatRequestBody,
  encode: ({ event, position }) => encodeEvent(event, position),
};
