import { createParser, type EventSourceMessage } from "eventsource-parser";
import { parseEventId } from "../../protocol/run/event-id.ts";
import type { EventId } from "../../protocol/identity/ids.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import type { StreamBatch, StreamEnd } from "../../protocol/run/stream-batch.ts";

/** One whole event of a run, as its chunks. */
export interface StreamedEvent {
  readonly id: EventId;
  /** Untrusted JSON objects. */
  readonly chunks: readonly JsonObject[];
}

/** When to return to a server that does not say it, and the longest time that is obeyed. */
const RETURN_AFTER_MS = 3_000;
const MAX_RETURN_AFTER_MS = 60_000;

/** Longest event, far above the largest observation. Unit: UTF-16 code units. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/**
 * Reads an assistant-transport stream, all events of one read at once.
 * Contract: as of ReadStream. An event is passed on only when its `id:` has arrived. A part of an
 * event, from a cut connection, is dropped, and the event arrives whole after a reconnection.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamBatch<StreamedEvent>, void, undefined> {
  const assembler = assembleEvents();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (let end: StreamEnd | undefined; !end;) {
      const read = await reader.read().catch(() => undefined);
      if (!read || read.done) return yield { items: [], end: { kind: "cut" } };
      assembler.feed(decoder.decode(read.value, { stream: true }));
      end = assembler.end();
      yield { items: assembler.take(), end };
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

interface EventAssembler {
  feed(text: string): void;
  /** Answers the events completed since the last call. */
  take(): readonly StreamedEvent[];
  end(): StreamEnd | undefined;
}

function assembleEvents(): EventAssembler {
  let complete: StreamedEvent[] = [];
  let chunks: JsonObject[] = [];
  let chars = 0;
  let end: StreamEnd["kind"] | undefined;
  let returnAfterMs = RETURN_AFTER_MS;

  function onFrame({ data, id }: EventSourceMessage): void {
    if (end) return;
    const isLast = data === "[DONE]";
    const chunk = isLast ? undefined : parseObject(data);
    chars += data.length;
    if (chars > MAX_EVENT_CHARS) end = "too_large";
    else if (!isLast && !chunk) end = "malformed";
    else if (chunk) chunks.push(chunk);
    // An end without an id is no event: the run waits, and only this stream of it is over.
    if (isLast && id === undefined) end ??= "waiting";
    if (end || id === undefined) return;
    // The client sends the id back in a header, so it must have the form of an id.
    if (!parseEventId(id)) {
      end = "malformed";
      return;
    }
    complete.push({ id: id as EventId, chunks });
    chunks = [];
    chars = 0;
    if (isLast) end = "done";
  }

  const parser = createParser({
    onEvent: onFrame,
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") end ??= "too_large";
    },
    onRetry: (ms) => {
      returnAfterMs = Math.min(ms, MAX_RETURN_AFTER_MS);
    },
    maxBufferSize: MAX_EVENT_CHARS,
  });
  return {
    feed: (text) => parser.feed(text),
    take() {
      const taken = complete;
      complete = [];
      return taken;
    },
    end: () => (end === "waiting" ? { kind: end, returnAfterMs } : end && { kind: end }),
  };
}

function parseObject(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
