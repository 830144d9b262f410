import type { StreamBatch } from "../protocol/run/stream-batch.ts";
import { type EventLine, EventLineReader } from "../wire/openai-inbound/event-line-reader.ts";

/** Reads a connection of neutral events. Contract: as of ReadStream. */
export async function* readEventLines(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamBatch<EventLine>, void, undefined> {
  const reader = new EventLineReader(body);
  try {
    for (let batch = await reader.next(); batch; batch = await reader.next()) {
      const { lines: items, waits } = batch;
      if (waits) return yield { items, end: { kind: "waiting", returnAfterMs: undefined } };
      yield { items };
    }
    yield { items: [], end: { kind: "done" } };
  } catch {
    yield { items: [], end: { kind: "cut" } };
  } finally {
    reader.cancel();
  }
}
