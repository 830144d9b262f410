import { chatRequestBody } from "../../protocol/run/chat-request.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";
import { encodeUiEvent } from "./encode-event.ts";

/** The UI message stream of the AI SDK. */
export const uiMessageWire: ClientWire = {
  name: "ui-message",
  revision: 1,
  headers: {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
    "x-vercel-ai-ui-message-stream": "v1",
  },
  heartbeat: ": keep-alive\n\n",
  trailer: "data: [DONE]\n\n",
  requestBody: chatRequestBody,
  encode: encodeUiEvent,
};
