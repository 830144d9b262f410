import { describe, expect, it } from "vitest";
import type { StreamEnd } from "../../src/protocol/run/stream-batch.ts";
import { readChunks, type StreamedEvent } from "../../src/wire/assistant-transport/read-chunks.ts";
import { encodeEvent, TRAILER } from "../../src/wire/assistant-transport/encode-event.ts";
import * as say from "./run-events.ts";

const log = [
  say.startText(0),
  say.text(0, "Grüße 😀\n\nid: 9-9"),
  say.finishText(0),
  say.proposeTool(1, "core__add"),
  say.startTool(1, { a: 1 }),
  say.finishTool(1, { sum: 2 }),
  say.end("error"),
];
const encoded = log.map((event, seq) => encodeEvent(event, { epoch: 0, seq }));
const whole = encoded.join("");

function bodyOf(...pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

async function read(...pieces: readonly (string | Uint8Array)[]) {
  const bytes = pieces.map((piece) =>
    typeof piece === "string" ? new TextEncoder().encode(piece) : piece,
  );
  return readAll(bodyOf(...bytes));
}

async function readAll(body: ReadableStream<Uint8Array>) {
  const events: StreamedEvent[] = [];
  let end: StreamEnd | undefined;
  for await (const batch of readChunks(body)) {
    expect(end).toBeUndefined();
    events.push(...batch.items);
    end = batch.end;
  }
  return { end, events };
}

describe("reading a stream", () => {
  it("returns the same events wherever the bytes are split", async () => {
    const expected = await read(whole);
    expect(expected.end?.kind).toBe("done");
    expect(expected.events.map((event) => event.id)).toEqual(log.map((_, seq) => `0-${seq}`));
    const bytes = new TextEncoder().encode(whole);
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await read(bytes.slice(0, at), bytes.slice(at))).toEqual(expected);
    }
  });

  it("passes on no part of an event before its id arrived, wherever the stream is cut", async () => {
    const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
    const bytes = bytesOf(whole);
    const ends = log.map((_, seq) => bytesOf(encoded.slice(0, seq + 1).join("")).length);
    const { events } = await read(whole);
    expect(events).toHaveLength(log.length);
    for (let at = 0; at < bytes.length - 1; at += 1) {
      const cut = await read(bytes.slice(0, at));
      expect(cut.end?.kind).toBe("cut");
      expect(cut.events).toEqual(events.slice(0, ends.filter((end) => end <= at).length));
    }
  });

  it("ignores comments and everything after the end", async () => {
    const { end, events } = await read(`: keep-alive\n\n${whole}data: {}\nid: 0-99\n\n`);
    expect(end?.kind).toBe("done");
    expect(events).toHaveLength(log.length);
  });

  it.each([
    ["5000", 5_000],
    ["999999999", 60_000],
    ["soon", 3_000],
  ])("reads from a waiting run's stream that it should return after %s ms", async (retry, ms) => {
    const { end } = await read(`retry: ${retry}\ndata: [DONE]\n\n`);
    expect(end).toEqual({ kind: "waiting", returnAfterMs: ms });
  });

  it("ends as waiting at a trailer without an id, and drops an unfinished event before it", async () => {
    const half = 'data: {"type":"data"}\n\n';
    const before = log.slice(0, 2).map((event, seq) => encodeEvent(event, { epoch: 0, seq }));
    const { end, events } = await read(`${before.join("")}${half}${TRAILER}${whole}`);
    expect(end).toEqual({ kind: "waiting", returnAfterMs: 3_000 });
    expect(events.map((event) => event.id)).toEqual(["0-0", "0-1"]);
  });

  it.each([
    ["a frame that is not JSON", "data: {oops\nid: 0-0\n\n"],
    ["a frame that is not an object", "data: [1]\nid: 0-0\n\n"],
    ["an invalid id", "data: {}\nid: 0-0\\r\\nx: y\n\n"],
  ])("ends as malformed on %s", async (_, text) => {
    expect(await read(text)).toEqual({ end: { kind: "malformed" }, events: [] });
  });

  it("ends as too large on an endless line or an endless event", async () => {
    const megabyte = "x".repeat(1024 * 1024);
    const line = await read(`data: "${megabyte}`, ...Array.from({ length: 5 }, () => megabyte));
    expect(line.end?.kind).toBe("too_large");
    const frames = Array.from({ length: 6 }, () => `data: {"x":"${megabyte}"}\n\n`);
    expect((await read(...frames)).end?.kind).toBe("too_large");
  });

  it("treats a failed body as cut", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("connection reset")),
    });
    expect(await readAll(body)).toEqual({ end: { kind: "cut" }, events: [] });
  });
});
