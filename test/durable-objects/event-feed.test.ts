import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { EventFeed } from "../../durable-objects/run/event-feed.ts";
import { EventLog } from "../../durable-objects/run/event-log.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import { chatRequestBody } from "../../src/protocol/run/chat-request.ts";
import type { ClientWire } from "../../src/protocol/run/client-wire.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import type { Principal } from "../../src/protocol/identity/principal.ts";
import { NO_USAGE } from "../../src/protocol/model/usage.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { drainPromises } from "../../src/testing/fakes/runner-ports.ts";
import { bindings } from "../shared/worker.ts";

type Open = (seq: number, wire?: ClientWire) => ReadableStream<Uint8Array>;

interface Bench {
  readonly log: EventLog;
  readonly feed: EventFeed;
  /** Opens a stream of the feed, in the first wire when none is named. */
  readonly open: Open;
  readonly clock: FakeClock;
  readonly say: (...events: readonly AiEvent[]) => void;
  /** Opens streams of a new feed, as the next incarnation of the object does. */
  readonly reopen: () => Open;
  /** A wire that shows every event in capitals, and no `title_set`. */
  readonly loud: ClientWire;
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

const RUN = { runId: CLAIM.runId, workflowId: CLAIM.runId, model: "m", createdMs: 0 };
const spell = (event: AiEvent): string => (event.type === "text_delta" ? event.text : event.type);

/** Builds a feed over a real log, with wires that note what they encode. */
function withFeed(work: (bench: Bench, encoded: string[]) => Promise<void>): Promise<void> {
  const id = bindings.RUNS.idFromName(`feed-${objects++}`);
  return runInDurableObject(bindings.RUNS.get(id), async (_object, { storage }) => {
    const store = new RunStore(storage);
    store.claim(CLAIM, { createdMs: 0 });
    const log = new EventLog(storage.sql, store.log, 0);
    const clock = new FakeClock();
    const encoded: string[] = [];
    const common = { revision: 1, headers: {}, requestBody: chatRequestBody };
    const plain: ClientWire = {
      ...common,
      name: "plain",
      heartbeat: "<3",
      trailer: "bye",
      encode({ event }) {
        encoded.push(spell(event));
        return `${spell(event)};`;
      },
    };
    const loud: ClientWire = {
      ...common,
      name: "loud",
      heartbeat: "!",
      trailer: "BYE",
      encode({ event, position }, { model }) {
        encoded.push(spell(event).toUpperCase());
        if (event.type === "title_set") return "";
        return `${position.seq}${model}${spell(event).toUpperCase()};`;
      },
    };
    const build = (isWaiting: boolean): EventFeed =>
      new EventFeed({ log, run: RUN, clock, ended: false, isWaiting });
    const opening =
      (of: EventFeed): Open =>
      (seq, wire = plain) =>
        of.open(seq, wire);
    const feed = build(false);
    const say = (...events: readonly AiEvent[]): void =>
      feed.publish(events.map((event) => ({ event, position: log.append(event) })));
    const reopen = (): Open => {
      log.flush();
      return opening(build(true));
    };
    await work({ log, feed, open: opening(feed), clock, say, reopen, loud }, encoded);
  });
}

const read = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();

test("encodes an event once for all readers of one wire that keep up", () =>
  withFeed(async ({ open, say }, encoded) => {
    const readers = [open(0), open(0), open(0)].map(read);
    say(delta("a"), delta("b"));
    say(done);
    expect(await Promise.all(readers)).toEqual(["a;b;done;", "a;b;done;", "a;b;done;"]);
    expect(encoded).toEqual(["a", "b", "done"]);
  }));

test("encodes an event once for each wire in use, and hands each reader its own wire", () =>
  withFeed(async ({ open, say, loud }, encoded) => {
    const readers = [open(0), open(0, loud), open(0), open(0, loud)].map(read);
    say(delta("a"));
    expect(encoded).toEqual(["a", "A"]);
    say(done);
    const texts = ["a;done;", "1mA;2mDONE;", "a;done;", "1mA;2mDONE;"];
    expect(await Promise.all(readers)).toEqual(texts);
  }));

test("a reader gets the heartbeat and the trailer of its own wire", () =>
  withFeed(async ({ feed, open, say, clock, loud }) => {
    const readers = [open(0), open(0, loud)].map(read);
    clock.advance(15_000);
    say(waits);
    feed.rest();
    expect(await Promise.all(readers)).toEqual(["<3run_waiting;bye", "!1mRUN_WAITING;BYE"]);
  }));

test("an event that a wire does not show sends no bytes, and the stream continues", () =>
  withFeed(async ({ open, say, loud }) => {
    const reader = read(open(0, loud));
    say({ type: "title_set", title: "Mine" });
    say(done);
    expect(await reader).toBe("2mDONE;");
  }));

test("a reader that does not read costs bounded memory and gets every event later", () =>
  withFeed(async ({ open, say }, encoded) => {
    const still = open(0);
    const words = Array.from({ length: 40 }, (_, index) => `${index}${"x".repeat(20_000)}`);
    for (const word of words) say(delta(word));
    expect(encoded.length).toBeLessThan(10);
    say(done);
    expect(await read(still)).toBe([...words, "done"].map((text) => `${text};`).join(""));
  }));

test("an unpublished event is not read, and a reader that joins meanwhile misses nothing", () =>
  withFeed(async ({ log, feed, say, open }) => {
    say(delta("a"));
    const held = { event: delta("b"), position: log.append(delta("b")) };
    const reader = open(0).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("a;");
    const late = open(0);
    feed.publish([held]);
    say(done);
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("b;");
    expect(await read(late)).toBe("a;b;done;");
  }));

test("a reader that fell behind catches up with the next batch", () =>
  withFeed(async ({ log, open, say }) => {
    const reader = open(0);
    const missed = log.append(delta("a"));
    expect(missed.seq).toBe(1);
    say(delta("b"));
    say(done);
    expect(await read(reader)).toBe("a;b;done;");
  }));

test("idle readers get a heartbeat, and the timer stops with the last reader", () =>
  withFeed(async ({ open, say, clock }) => {
    const first = open(0).getReader();
    const second = open(0);
    clock.advance(15_000);
    expect(new TextDecoder().decode((await first.read()).value)).toBe("<3");
    await first.cancel();
    expect(clock.waiting).toBe(1);
    say(done);
    expect(await read(second)).toBe("<3done;");
    expect(clock.waiting).toBe(0);
  }));

describe("a run that waits for people", () => {
  test("ends each stream after the last event and a trailer, and stops the timer", () =>
    withFeed(async ({ feed, open, say, clock }) => {
      const readers = [open(0), open(0)].map(read);
      say(delta("a"), waits);
      expect(clock.waiting).toBe(1);
      // The readers take every event first, so that nothing but `rest` ends their streams.
      await drainPromises();
      feed.rest();
      expect(await Promise.all(readers)).toEqual(["a;run_waiting;bye", "a;run_waiting;bye"]);
      expect(clock.waiting).toBe(0);
    }));

  test("ends the stream of each reader that returns, so that none keeps the object awake", () =>
    withFeed(async ({ feed, open, say, clock }) => {
      say(delta("a"), waits);
      feed.rest();
      const returns = Array.from({ length: 200 }, (_, at) => read(open(at % 3)));
      expect(new Set(await Promise.all(returns))).toEqual(
        new Set(["a;run_waiting;bye", "run_waiting;bye", "bye"]),
      );
      expect(feed.isFull).toBe(false);
      expect(clock.waiting).toBe(0);
    }));

  test("tells a reader that returns what happened while the run waits", () =>
    withFeed(async ({ feed, open, say }) => {
      say(waits);
      feed.rest();
      say(updated, { type: "user_message", text: "hurry" });
      expect(await read(open(1))).toBe("approval_updated;user_message;bye");
      expect(await read(open(3))).toBe("bye");
    }));

  test("keeps readers again once the run continues", () =>
    withFeed(async ({ feed, open, say, clock }) => {
      say(delta("a"), waits);
      feed.rest();
      feed.resume();
      const back = [open(2), open(0)].map(read);
      clock.advance(15_000);
      say(delta("b"));
      say(done);
      expect(await Promise.all(back)).toEqual(["<3b;done;", "a;run_waiting;<3b;done;"]);
    }));

  test("gives a slow reader every event before its stream ends", () =>
    withFeed(async ({ feed, open, say }) => {
      const slow = open(0);
      const words = Array.from({ length: 20 }, (_, index) => `${index}${"x".repeat(20_000)}`);
      for (const word of words) say(delta(word));
      say(waits);
      feed.rest();
      const text = await read(slow);
      expect(text).toBe([...words, "run_waiting"].map((word) => `${word};`).join("") + "bye");
    }));

  test("still waits in the next incarnation of the object", () =>
    withFeed(async ({ feed, say, reopen }) => {
      say(delta("a"), waits);
      feed.rest();
      say(updated);
      const next = reopen();
      expect(await read(next(0))).toBe("a;run_waiting;approval_updated;bye");
      expect(await read(next(3))).toBe("bye");
    }));
});
