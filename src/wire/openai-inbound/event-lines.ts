import { WAITS, type EventLine } from "./event-line-reader.ts";
import { chatRequestBody } from "../../protocol/run/chat-request.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";

/**
 * The events of a run as they are, one line of JSON each. What a client of OpenAI reads at the end
 * of a stream holds all of the answer, so no encoder without a memory can write it: the Worker
 * reads these lines and writes the answer.
 */
export const eventLines: ClientWire = {
  name: "event-lines",
  revision: 1,
  headers: {
    "content-type": "application/x-ndjson",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  },
  heartbeat: "\n",
  trailer: `${WAITS}\n`,
  requestBody: chatRequestBody,
  encode(entry, run) {
    const line: EventLine = entry.event.type === "run_started" ? { ...entry, run } : entry;
    return `${JSON.stringify(line)}\n`;
  },
};
