import { describe, expect, it } from "vitest";
import { fail, ok } from "../../../../src/protocol/outcome/result.ts";
import { MAX_LOSSES } from "../../../../src/client/follow-stream.ts";
import type { OpenStream } from "../../../../src/client/open-stream.ts";
import { type FollowTask, followRun } from "../../../../src/widget/chat/stream/follow-run.ts";
import { SILENCE_MS } from "../../../../src/client/silence-watch.ts";
import { encodeEvent, TRAILER } from "../../../../src/wire/assistant-transport/encode-event.ts";
import * as say from "../../run-events.ts";

const refused = (isTransient: boolean) =>
  fail({ code: "refused", message: "Not now.", isTransient } as const);

function streamOf(...texts: readonly string[]): { ok: true; value: OpenStream } {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
  return ok({ body });
}

const first = encodeEvent(say.startText(0), { epoch: 0, seq: 0 });
const last = encodeEvent(say.end(), { epoch: 0, seq: 1 });

/** Follows a run over the given connections in order. The last one repeats. */
async function follow(
  connections: readonly Awaited<ReturnType<FollowTask["open"]>>[],
  overrides: Partial<FollowTask> = {},
) {
  const delays: number[] = [];
  const pauses: number[] = [];
  const ids: string[] = [];
  let opened = 0;
  const task: FollowTask = {
    open: async () => {
      const next = connections[Math.min(opened, connections.length - 1)];
      opened += 1;
      return next ?? refused(true);
    },
    isDone: () => false,
    onEvents: (events) => ids.push(...events.map((event) => event.id)),
    onLink: () => undefined,
    pause: async (ms) => {
      pauses.push(ms);
    },
    signal: new AbortController().signal,
    ...overrides,
  };
  const end = await followRun(task, {
    random: () => 1,
    wait: (ms) => {
      // The silence watch never fires in these tests.
      if (ms === SILENCE_MS) return new Promise(() => undefined);
      delays.push(ms);
      return Promise.resolve();
    },
  });
  return { end, delays, pauses, ids, opened };
}

describe("following a run", () => {
  it("reconnects after a lost connection and ends with the last event", async () => {
    const { end, ids } = await follow([streamOf(first), refused(true), streamOf(last)]);
    expect(end).toEqual({ kind: "done" });
    expect(ids).toEqual(["0-0", "0-1"]);
  });

  it("returns to a run that waits for people when the server said, however often", async () => {
    const waits = Array.from({ length: 2 * MAX_LOSSES }, () => streamOf(TRAILER));
    const seen = await follow([streamOf(first, TRAILER), ...waits, streamOf(last)]);
    expect(seen).toMatchObject({ end: { kind: "done" }, ids: ["0-0", "0-1"], delays: [] });
    expect(seen.pauses).toEqual([streamOf(), ...waits].map(() => 3_000));
  });

  it("does not return to a waiting run once the element has left the page", async () => {
    const lifetime = new AbortController();
    const pause = async () => lifetime.abort();
    const { end, opened } = await follow([streamOf(TRAILER)], { pause, signal: lifetime.signal });
    expect({ end, opened }).toEqual({ end: { kind: "aborted" }, opened: 1 });
  });

  it("gives up after a bounded number of losses in a row, with growing delays", async () => {
    const { end, delays } = await follow([refused(true)]);
    expect(end.kind).toBe("broken");
    expect(delays).toHaveLength(MAX_LOSSES);
    expect(delays).toEqual(delays.toSorted((a, b) => a - b));
    expect(new Set(delays).size).toBe(MAX_LOSSES);
  });

  it("resets the count of losses after an event arrived", async () => {
    const losses = Array.from({ length: MAX_LOSSES - 1 }, () => refused(true));
    const { end } = await follow([...losses, streamOf(first), ...losses, streamOf(last)]);
    expect(end.kind).toBe("done");
  });

  it("does not repeat a request that was refused", async () => {
    expect(await follow([refused(false)])).toMatchObject({
      end: { kind: "broken", message: "Not now." },
      opened: 1,
    });
  });

  it("ends with token_needed when the server requires a token", async () => {
    const needed = fail({ code: "token_needed", message: "", isTransient: false } as const);
    expect((await follow([needed])).end).toEqual({ kind: "token_needed" });
  });

  it("does not reconnect after a stream that it cannot read", async () => {
    const { end, opened } = await follow([streamOf("data: nonsense\nid: 0-0\n\n")]);
    expect(end).toMatchObject({ kind: "broken" });
    expect(opened).toBe(1);
  });

  it("accepts an empty answer as the end only after the last event", async () => {
    expect((await follow([ok({})], { isDone: () => true })).end.kind).toBe("done");
    expect((await follow([ok({})])).end.kind).toBe("broken");
  });

  it("leaves a silent connection and opens another", async () => {
    const signals: AbortSignal[] = [];
    const end = await followRun(
      {
        open: (signal) => {
          signals.push(signal);
          if (signals.length > 1) return Promise.resolve(streamOf(first, last));
          return new Promise((resolve) =>
            signal.addEventListener("abort", () => resolve(refused(true))),
          );
        },
        isDone: () => false,
        onEvents: () => undefined,
        onLink: () => undefined,
        pause: async () => undefined,
        signal: new AbortController().signal,
      },
      { random: () => 0, wait: () => Promise.resolve() },
    );
    expect(signals[0]?.aborted).toBe(true);
    expect(end.kind).toBe("done");
  });

  it("stops when the element leaves the page", async () => {
    const signal = AbortSignal.abort();
    expect((await follow([streamOf(first)], { signal })).end).toEqual({ kind: "aborted" });
  });
});
