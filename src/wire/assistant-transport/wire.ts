import { chatRequestBody } from "../../protocol/run/chat-request.ts";
import { EVENT_STREAM_HEADERS, type ClientWire } from "../../protocol/run/client-wire.ts";
import { encodeEvent, HEARTBEAT, TRAILER } from "./encode-event.ts";

/** The `assistant-transport` protocol of the `assistant-stream` package. */
export const assistantTransport: ClientWire = {
  name: "assistant-transport",
  revision: 1,
  headers: EVENT_STREAM_HEADERS,
  heartbeat: HEARTBEAT,
  trailer: TRAILER,
  requestBody: chatRequestBody,
  encode: ({ event, position }) => encodeEvent(event, position),
};
