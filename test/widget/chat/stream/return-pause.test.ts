import { describe, expect, it } from "vitest";
import { createReturnPause } from "../../../../src/widget/chat/stream/return-pause.ts";

const LIFE = new AbortController().signal;

/** Resolves when the signal aborts, and never by itself. */
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });

describe("the pause before a return to a waiting run", () => {
  it("lasts as long as the server said, and then until the reader sees the page", async () => {
    const steps: string[] = [];
    const returning = createReturnPause({
      wait: async (ms) => void steps.push(`waited ${ms}`),
      untilSeen: async () => void steps.push("seen"),
    });
    await returning.pause(3_000, LIFE);
    expect(steps).toEqual(["waited 3000", "seen"]);
  });

  it("ends at once when the reader decided something, and the next pause is whole again", async () => {
    let waits = 0;
    const wait = (_ms: number, signal: AbortSignal): Promise<void> => {
      waits += 1;
      return untilAborted(signal);
    };
    const returning = createReturnPause({ wait, untilSeen: untilAborted });
    const paused = returning.pause(600_000, LIFE);
    returning.end();
    await paused;
    const again = returning.pause(600_000, LIFE).then(() => "over");
    expect(await Promise.race([again, Promise.resolve("paused")])).toBe("paused");
    expect(waits).toBe(2);
  });

  it("ends when the element leaves the page", async () => {
    const returning = createReturnPause({
      wait: (_ms, signal) => untilAborted(signal),
      untilSeen: untilAborted,
    });
    const lifetime = new AbortController();
    const paused = returning.pause(600_000, lifetime.signal);
    lifetime.abort();
    await paused;
    expect(lifetime.signal.aborted).toBe(true);
  });
});
