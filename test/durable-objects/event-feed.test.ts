import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { EventFeed } from "../../durable-objects/run/event-feed.ts";
import { EventLog } from "../../durable-objects/run/event-log.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import type { AiEvent } from "../../src/protocol/ai-event.ts";
import type { RunId } from "../../src/protocol/ids.ts";
import type { Principal } from "../../src/protocol/principal.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";
import { FakeClock } from "../suites/fakes.ts";
import { bindings } from "../suites/worker.ts";

interface Bench {
  readonly log: EventLog;
  readonly feed: EventFeed;
  readonly clock: FakeClock;
  readonly say: (...events: readonly AiEvent[]) => void;
}

const delta = (text: string): AiEvent => ({ type: "text_delta", part: 0, text });
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
      encode: (event: AiEvent): string => {
        const text = event.type === "text_delta" ? event.text : event.type;
        encoded.push(text);
        return `${text};`;
      },
    };
    const feed = new EventFeed({ log, encoder, clock, ended: false });
    const say = (...events: readonly AiEvent[]): void =>
      feed.publish(events.map((event) => ({ event, position: log.append(event) })));
    await work({ log, feed, clock, say }, encoded);
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
