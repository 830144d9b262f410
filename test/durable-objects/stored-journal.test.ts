import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { EventFeed } from "../../durable-objects/run/event-feed.ts";
import { EventLog } from "../../durable-objects/run/event-log.ts";
import { streamedRunOf } from "../../durable-objects/run/open-run.ts";
import { NEW_RUN } from "../../src/run/progress.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import { RefusalTally } from "../../src/run/notices/refusal-tally.ts";
import { RunNotices } from "../../src/run/notices/run-notices.ts";
import { Outbox } from "../../durable-objects/run/outbox.ts";
import { StoredFiles } from "../../durable-objects/run/stored-files.ts";
import { RunInvocations } from "../../src/run/invocations.ts";
import { StoredPrompt } from "../../durable-objects/run/stored-prompt.ts";
import { StoredTranscript } from "../../durable-objects/run/stored-transcript.ts";
import { StoredJournal } from "../../durable-objects/run/stored-journal.ts";
import type { ClientWire } from "../../src/protocol/run/client-wire.ts";
import { assistantTransport } from "../../src/wire/assistant-transport/wire.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import type { RunId, ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { Principal } from "../../src/protocol/identity/principal.ts";
import { NO_USAGE } from "../../src/protocol/model/usage.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { readLog } from "../shared/run-object.ts";
import { bindings } from "../shared/worker.ts";

const principal = { tenantId: "acme", actorId: "user:ann" } as Principal;
const CLAIM = { runId: "run_1" as RunId, principal, model: "m", messages: [] };
const delta = (text: string): AiEvent => ({ type: "text_delta", part: 0, text });
const started: AiEvent = { type: "text_started", part: 0 };
const title: AiEvent = { type: "title_set", title: "Mine" };
const done: AiEvent = { type: "done", reason: "stop", usage: NO_USAGE };

interface Bench {
  readonly journal: StoredJournal;
  readonly store: RunStore;
  readonly transcript: StoredTranscript;
  readonly sql: SqlStorage;
  readonly clock: FakeClock;
  /** Types of the events that were encoded for the reader so far. */
  readonly sent: readonly string[];
  readonly abandoned: readonly unknown[];
  /** Types of the stored events. */
  readonly stored: () => readonly string[];
  readonly reader: ReadableStream<Uint8Array>;
}

let objects = 0;

function withJournal(work: (bench: Bench) => Promise<void> | void): Promise<void> {
  const id = bindings.RUNS.idFromName(`journal-${objects++}`);
  return runInDurableObject(bindings.RUNS.get(id), async (_object, { storage }) => {
    const store = new RunStore(storage);
    store.claim(CLAIM, { createdMs: 0 });
    const log = new EventLog(storage.sql, store.log, 0);
    const clock = new FakeClock();
    const sent: string[] = [];
    const wire: ClientWire = {
      ...assistantTransport,
      encode({ event: { type } }) {
        sent.push(type);
        return type;
      },
    };
    const feed = new EventFeed({
      log,
      run: streamedRunOf(store),
      clock,
      ended: false,
      isWaiting: false,
    });
    const abandoned: unknown[] = [];
    const abandon = (cause: unknown): void => void abandoned.push(cause);
    const transcript = new StoredTranscript(store.log);
    const invocations = new RunInvocations(store.log, new Map());
    const outbox = new Outbox(store, store.logged(), 0);
    const refusals = new RefusalTally(store.log, []);
    const notices = new RunNotices({ store, invocations, outbox, refusals });
    const sync = (): Promise<void> => storage.sync();
    const journal = new StoredJournal({
      log,
      feed,
      store,
      transcript,
      prompt: new StoredPrompt(storage.sql, store.tables()),
      files: new StoredFiles(storage.sql, store.tables()),
      invocations,
      outbox,
      notices,
      clock,
      abandon,
      sync,
      progress: NEW_RUN,
    });
    const stored = (): readonly string[] =>
      readLog(storage.sql).flatMap(({ body }) =>
        body === null ? [] : (JSON.parse(body) as AiEvent[]).map(({ type }) => type),
      );
    await work({
      journal,
      store,
      transcript,
      sql: storage.sql,
      clock,
      sent,
      abandoned,
      stored,
      reader: feed.open(0, wire),
    });
  });
}

test("an event that is no delta is stored before it is sent, and later events wait for it", () =>
  withJournal(({ journal, clock, sent, stored, store }) => {
    journal.append([title]);
    journal.append([delta("a")]);
    expect([sent, stored()]).toEqual([[], []]);
    clock.advance(5);
    expect(stored()).toEqual(["title_set", "text_delta"]);
    expect(sent).toEqual(["title_set", "text_delta"]);
    expect(store.progress().title).toBe("Mine");
  }));

test("the first text of an answer is stored at once and then sent", () =>
  withJournal(({ journal, sent, stored }) => {
    journal.append([started, delta("a")]);
    expect(stored()).toEqual(["text_started", "text_delta"]);
    expect(sent).toEqual(["text_started", "text_delta"]);
    journal.append([delta("b")]);
    expect([sent.length, stored().length]).toEqual([3, 2]);
  }));

test("the first step start is stored at once, with the claim", () =>
  withJournal(({ journal, sent, stored }) => {
    journal.append([{ type: "step_started", step: 1, messageId: "m" }]);
    expect([sent, stored()]).toEqual([["step_started"], ["step_started"]]);
  }));

test("a later step start is stored after five milliseconds, and sent only then", () =>
  withJournal(({ journal, clock, sent, stored }) => {
    journal.append([{ type: "step_started", step: 2, messageId: "m" }]);
    clock.advance(4);
    expect([sent, stored()]).toEqual([[], []]);
    clock.advance(1);
    expect([sent, stored()]).toEqual([["step_started"], ["step_started"]]);
  }));

test("deltas are sent at once and stored within a second, or with the next other event", () =>
  withJournal(({ journal, clock, sent, stored }) => {
    journal.append([delta("a")]);
    journal.append([delta("b")]);
    clock.advance(999);
    expect([sent.length, stored()]).toEqual([2, []]);
    clock.advance(1);
    expect(stored().length).toBe(2);
    journal.append([delta("c")]);
    journal.append([{ type: "text_finished", part: 0 }]);
    clock.advance(5);
    expect(stored().length).toBe(4);
  }));

test("progress is sent at once and stored like deltas", () =>
  withJournal(({ journal, clock, sent, stored }) => {
    const toolCallId = "call_1" as ToolCallId;
    journal.append([{ type: "tool_call_progress", part: 0, toolCallId, done: 1 }]);
    clock.advance(999);
    expect([sent, stored()]).toEqual([["tool_call_progress"], []]);
    clock.advance(1);
    expect(stored()).toEqual(["tool_call_progress"]);
  }));

test("a steering message is stored at once and then sent", () =>
  withJournal(({ journal, sent, stored }) => {
    journal.append([delta("a")]);
    journal.append([{ type: "user_message", text: "hurry" }]);
    expect(stored()).toEqual(["text_delta", "user_message"]);
    expect(sent).toEqual(["text_delta", "user_message"]);
  }));

test("the end is stored and sent at once, and later events are ignored", () =>
  withJournal(async ({ journal, clock, stored, store, reader }) => {
    journal.append([title]);
    journal.append([done]);
    journal.append([delta("late")]);
    expect(await new Response(reader).text()).toBe("title_setdone");
    expect(stored()).toEqual(["title_set", "done"]);
    expect(store.progress()).toMatchObject({ reason: "stop", title: "Mine" });
    expect(clock.waiting).toBe(0);
  }));

test("messages of any length are stored whole and in order", () =>
  withJournal(({ journal, clock, transcript }) => {
    const long = `${"😀".repeat(400_000)}\n`;
    journal.remember({ role: "user", text: "first" });
    journal.remember({ role: "user", text: long });
    expect(transcript.all()).toEqual([]);
    clock.advance(5);
    expect(transcript.all()).toEqual([
      { role: "user", text: "first" },
      { role: "user", text: long },
    ]);
  }));

test("a journal that cannot store aborts the object and sends no unstored event", () =>
  withJournal(({ journal, clock, sql, sent, abandoned }) => {
    sql.exec("DROP TABLE log");
    journal.append([title]);
    clock.advance(5);
    expect(abandoned.length).toBe(1);
    expect(sent).toEqual([]);
  }));
