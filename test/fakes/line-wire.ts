import * as v from "valibot";
import type { ClientWire } from "../../src/protocol/run/client-wire.ts";
import { formatEventId } from "../../src/protocol/run/event-id.ts";

/**
 * A second client wire: one line of JSON per event, and a request of one sentence. It proves that a
 * wire needs only its folder and one line of registration; see test/workers/lab-worker.ts.
 */
export const lineWire: ClientWire = {
  name: "lines",
  revision: 7,
  headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  heartbeat: "\n",
  trailer: '{"later":true}\n',
  requestBody: v.pipe(
    v.strictObject({ say: v.string() }),
    v.transform(({ say }) => ({ messages: [{ role: "user" as const, content: say }] })),
  ),
  encode({ event, position }, { runId }) {
    // Not every wire shows every event.
    if (event.type === "step_started" || event.type === "step_finished") return "";
    return `${JSON.stringify({ id: formatEventId(position), runId, ...event })}\n`;
  },
};
