import { chatRequestBody } from "../../protocol/run/chat-request.ts";
import { EVENT_STREAM_HEADERS, type ClientWire } from "../../protocol/run/client-wire.ts";
import { encodeUiEvent } from "./encode-event.ts";

/** The UI message stream of the AI SDK. */
export const uiMessageWire: ClientWire = {
  name: "ui-message",
  revision: 1,
  headers: { ...EVENT_STREAM_HEADERS, "x-vercel-ai-ui-message-stream": "v1" },
  heartbeat: ": keep-alive\n\n",
  trailer: "data: [DONE]\n\n",
  requestBody: chatRequestBody,
  encode: encodeUiEvent,
};
