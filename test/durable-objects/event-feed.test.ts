import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { EventFeed } from "../../durable-objects/run/event-feed.ts";
import { EventLog } from "../../durable-objects/run/event-log.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import type { Principal } from "../../src/protocol/identity/principal.ts";
import { NO_USAGE } from "../../src/protocol/model/usage.ts";
import { FakeClock } from "../fakes/fakes.ts";
import { bindings } from "../shared/worker.ts";

interface Bench {
  readonly log: EventLog;
  readonly feed: EventFeed;
  readonly clock: FakeClock;
  readonly say: (...events: readonly AiEvent[]) => void;
  /** A feed of the object's next life. */
  readonly reopen: () => EventFeed;
}

const delta = (text: string): AiEvent => ({ type: "text_delta", part: 0, text });
const waits: AiEvent = { type: "run_waiting", usage: NO_USAGE };
const updated = {
  type: "approval_updated",
  part: 0,
  toolCallId: "call_1",
  approval: {},
} as unknown as AiEvent;
const done: AiEvent = { type: "done", reason: "stop", usage: NO_USAGE };

const principal = { tenantId: "acme", actorId: "user:ann" } as Principal;
const CLAIM = { runId: "run_1" as RunId, principal, model: "m", messages: [] };

let objects = 0;

/** A feed over a real log, with an encoder that shows what is encoded. */
function withFeed(work: (bench: Bench, encoded: string[]) => Promise<void>): Promise<void> {
  const id = bindings.RUNS.idFromName(`feed-${objects++}`);
  return runInDurableObject(bindings.RUNS.get(id), async (_object, { storage }) => {
    new RunStore(storage).claim(CLAIM, 0);
    const log = new EventLog(storage.sql, 0);
    const clock = new FakeClock();
    const encoded: string[] = [];
    const encoder = {
      headers: {},
      heartbeat: "<3",
      trailer: "bye",
      encode: (event: AiEvent): string => {
        const text = event.type === "text_delta" ? event.text : event.type;
        encoded.push(text);
        return `${text};`;
      },
    };
    const feed = new EventFeed({ log, encoder, clock, ended: false });
    const say = (...events: readonly AiEvent[]): void =>
      feed.publish(events.map((event) => ({ event, position: log.append(event) })));
    const reopen = (): EventFeed => {
      log.flush();
      return new EventFeed({ log, encoder, clock, ended: false });
    };
    await work({ log, feed, clock, say, reopen }, encoded);
  });
}

const read = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();

test("encodes an event once for all readers that keep up", () =>
  withFeed(async ({ feed, say }, encoded) => {
    const readers = [feed.open(0), feed.open(0), feed.open(0)].map(read);
    say(delta("a"), delta("b"));
    say(done);
    expect(await Promise.all(readers)).toEqual(["a;b;done;", "a;b;done;", "a;b;done;"]);
    expect(encoded).toEqual(["a", "b", "done"]);
  }));

test("a reader that stands still costs bounded memory and gets everything in the end", () =>
  withFeed(async ({ feed, say }, encoded) => {
    const still = feed.open(0);
    const words = Array.from({ length: 40 }, (_, index) => `${index}${"x".repeat(20_000)}`);
    for (const word of words) say(delta(word));
    expect(encoded.length).toBeLessThan(10);
    say(done);
    expect(await read(still)).toBe([...words, "done"].map((text) => `${text};`).join(""));
  }));

test("what is not published is not read, and a reader that comes meanwhile misses nothing", () =>
  withFeed(async ({ log, feed, say }) => {
    say(delta("a"));
    const held = { event: delta("b"), position: log.append(delta("b")) };
    const reader = feed.open(0).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("a;");
    const late = feed.open(0);
    feed.publish([held]);
    say(done);
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("b;");
    expect(await read(late)).toBe("a;b;done;");
  }));

test("a reader that fell behind is level again after the next batch, whatever it missed", () =>
  withFeed(async ({ log, feed, say }) => {
    const reader = feed.open(0);
    const missed = log.append(delta("a"));
    expect(missed.seq).toBe(1);
    say(delta("b"));
    say(done);
    expect(await read(reader)).toBe("a;b;done;");
  }));

test("idle readers hear a heartbeat, and the timer leaves with the last of them", () =>
  withFeed(async ({ feed, say, clock }) => {
    const first = feed.open(0).getReader();
    const second = feed.open(0);
    clock.advance(15_000);
    expect(new TextDecoder().decode((await first.read()).value)).toBe("<3");
    await first.cancel();
    expect(clock.waiting).toBe(1);
    say(done);
    expect(await read(second)).toBe("<3done;");
    expect(clock.waiting).toBe(0);
  }));

describe("a run that waits for people", () => {
  // Mutant: readers are not closed while the run waits.
  test("ends the streams that have told so, behind the last event and a trailer", () =>
    withFeed(async ({ feed, say, clock }) => {
      const readers = [feed.open(0), feed.open(0)].map(read);
      say(delta("a"), waits);
      const late = read(feed.open(1));
      expect(await Promise.all(readers)).toEqual(["a;run_waiting;bye", "a;run_waiting;bye"]);
      expect(await late).toBe("run_waiting;bye");
      expect(clock.waiting).toBe(0);
    }));

  // Mutant: `since` is not asked for.
  test("keeps a reader that comes back after that, until it goes on and waits again", () =>
    withFeed(async ({ feed, say, clock }) => {
      say(delta("a"), waits);
      const back = read(feed.open(2));
      clock.advance(15_000);
      say(delta("b"));
      say(waits);
      expect(await back).toBe("<3b;run_waiting;bye");
    }));

  test("goes on for readers from any place, and ends without a trailer", () =>
    withFeed(async ({ feed, say }) => {
      say(delta("a"), waits);
      const back = read(feed.open(2));
      say(delta("b"));
      const others = [feed.open(0), feed.open(1), feed.open(3)].map(read);
      say(done);
      expect(await back).toBe("b;done;");
      expect(await Promise.all(others)).toEqual([
        "a;run_waiting;b;done;",
        "run_waiting;b;done;",
        "done;",
      ]);
    }));

  test("still waits when one of several has decided, and when somebody speaks to it", () =>
    withFeed(async ({ feed, say }) => {
      say(waits);
      const follower = read(feed.open(1));
      say(updated, { type: "user_message", text: "hurry" });
      expect(await read(feed.open(0))).toBe("run_waiting;approval_updated;user_message;bye");
      say(done);
      expect(await follower).toBe("approval_updated;user_message;done;");
    }));

  test("gives a slow reader everything before its stream ends", () =>
    withFeed(async ({ feed, say }) => {
      const slow = feed.open(0);
      const words = Array.from({ length: 20 }, (_, index) => `${index}${"x".repeat(20_000)}`);
      for (const word of words) say(delta(word));
      say(waits);
      const text = await read(slow);
      expect(text).toBe([...words, "run_waiting"].map((word) => `${word};`).join("") + "bye");
    }));

  // Mutant: a new life does not look where the log ends.
  test("is known to wait in the object's next life, too", () =>
    withFeed(async ({ say, reopen }) => {
      say(delta("a"), waits, updated);
      const next = reopen();
      expect(await read(next.open(0))).toBe("a;run_waiting;approval_updated;bye");
      const back = next.open(3).getReader();
      const pending = back.read().then(() => "ended");
      expect(await Promise.race([pending, Promise.resolve("open")])).toBe("open");
      await back.cancel();
    }));
});
