import { chatRequestBody } from "../../protocol/run/chat-request.ts";
import { EVENT_STREAM_HEADERS, type ClientWire } from "../../protocol/run/client-wire.ts";
import { encodeAgUiEvent, frameOf } from "./encode-event.ts";

/** The events of AG-UI. */
export const agUiWire: ClientWire = {
  name: "ag-ui",
  revision: 1,
  headers: EVENT_STREAM_HEADERS,
  heartbeat: ": keep-alive\n\n",
  trailer: frameOf({
    type: "RUN_ERROR",
    message: "The run waits.",
    code: "run_waiting",
  }),
  requestBody: chatRequestBody,
  encode: encodeAgUiEvent,
};
