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
import { FakeClock } from "../fakes/fakes.ts";
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
    new RunStore(storage).claim(CLAIM, 0);
    const log = new EventLog(storage.sql, 0);
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
    const build = (): EventFeed => new EventFeed({ log, run: RUN, clock, ended: false });
    const opening =
      (of: EventFeed): Open =>
      (seq, wire = plain) =>
        of.open(seq, wire);
    const feed = build();
    const say = (...events: readonly AiEvent[]): void =>
      feed.publish(events.map((event) => ({ event, position: log.append(event) })));
    const reopen = (): Open => {
      log.flush();
      return opening(build());
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

// Mutant: the bytes of the first wire go to every reader.
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
  withFeed(async ({ open, say, clock, loud }) => {
    const readers = [open(0), open(0, loud)].map(read);
    clock.advance(15_000);
    say(waits);
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

describe("a run that waits for approvals", () => {
  // Mutant: readers are not closed while the run waits.
  test("ends each stream after run_waiting and a trailer", () =>
    withFeed(async ({ open, say, clock }) => {
      const readers = [open(0), open(0)].map(read);
      say(delta("a"), waits);
      const late = read(open(1));
      expect(await Promise.all(readers)).toEqual(["a;run_waiting;bye", "a;run_waiting;bye"]);
      expect(await late).toBe("run_waiting;bye");
      expect(clock.waiting).toBe(0);
    }));

  // Mutant: `since` is ignored.
  test("keeps a reader that returns after run_waiting until the run waits again", () =>
    withFeed(async ({ open, say, clock }) => {
      say(delta("a"), waits);
      const back = read(open(2));
      clock.advance(15_000);
      say(delta("b"));
      say(waits);
      expect(await back).toBe("<3b;run_waiting;bye");
    }));

  test("continues for readers from any position, and ends without a trailer", () =>
    withFeed(async ({ open, say }) => {
      say(delta("a"), waits);
      const back = read(open(2));
      say(delta("b"));
      const others = [open(0), open(1), open(3)].map(read);
      say(done);
      expect(await back).toBe("b;done;");
      expect(await Promise.all(others)).toEqual([
        "a;run_waiting;b;done;",
        "run_waiting;b;done;",
        "done;",
      ]);
    }));

  test("still waits after an approval update and after a steering message", () =>
    withFeed(async ({ open, say }) => {
      say(waits);
      const follower = read(open(1));
      say(updated, { type: "user_message", text: "hurry" });
      expect(await read(open(0))).toBe("run_waiting;approval_updated;user_message;bye");
      say(done);
      expect(await follower).toBe("approval_updated;user_message;done;");
    }));

  test("gives a slow reader every event before its stream ends", () =>
    withFeed(async ({ open, say }) => {
      const slow = open(0);
      const words = Array.from({ length: 20 }, (_, index) => `${index}${"x".repeat(20_000)}`);
      for (const word of words) say(delta(word));
      say(waits);
      const text = await read(slow);
      expect(text).toBe([...words, "run_waiting"].map((word) => `${word};`).join("") + "bye");
    }));

  // Mutant: a new incarnation does not look at the end of its log.
  test("still waits in the next incarnation of the object", () =>
    withFeed(async ({ say, reopen }) => {
      say(delta("a"), waits, updated);
      const next = reopen();
      expect(await read(next(0))).toBe("a;run_waiting;approval_updated;bye");
      const back = next(3).getReader();
      const pending = back.read().then(() => "ended");
      expect(await Promise.race([pending, Promise.resolve("open")])).toBe("open");
      await back.cancel();
    }));
});
