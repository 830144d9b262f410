import { chatRequestBody } from "../../protocol/run/chat-request.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";
import { encodeAgUiEvent, frameOf } from "./encode-event.ts";

/** The events of AG-UI. */
export const agUiWire: ClientWire = {
  name: "ag-ui",
  revision: 1,
  headers: {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  },
  heartbeat: ": keep-alive\n\n",
  trailer: frameOf({
    type: "RUN_ERROR",
    message: "The run waits.",
    code: "run_waiting",
  }),
  requestBody: chatRequestBody,
  encode: encodeAgUiEvent,
};
