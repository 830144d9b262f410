import type { Clock } from "../../src/capabilities/system.ts";
import type { RunJournal } from "../../src/capabilities/run-journal.ts";
import type { EventPosition } from "../../src/protocol/run/event-id.ts";
import type { AiEvent, LoggedEvent } from "../../src/protocol/run/event.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunFacts } from "../../src/protocol/run/facts.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import { addUsage } from "../../src/protocol/model/usage.ts";
import type { EventFeed } from "./event-feed.ts";
import type { EventLog } from "./event-log.ts";
import type { Outbox } from "./outbox.ts";
import type { RunNotices } from "../../src/run/notices/run-notices.ts";
import type { RunProgress } from "../../src/run/progress.ts";
import type { RunStore } from "./run-store.ts";
import type { StoredFiles } from "./stored-files.ts";
import { awaitsOperator, type RunInvocations } from "../../src/run/invocations.ts";
import type { HookContext } from "../../src/protocol/assistant/context.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { StoredPrompt } from "./stored-prompt.ts";
import type { StoredTranscript } from "./stored-transcript.ts";

/**
 * Delay until data other than deltas and progress is stored. A commit costs more than a step of
 * fast tools, so several entries share one commit.
 */
const STORE_WITHIN_MS = 5;
/** Delay until deltas and progress are stored. */
const DELTAS_WITHIN_MS = 1_000;
/** Size of unstored deltas and progress that is stored at once. Unit: UTF-16 code units of JSON. */
const FLUSH_AFTER_CHARS = 32 * 1024;

export interface JournalPorts {
  readonly log: EventLog;
  readonly store: RunStore;
  readonly transcript: StoredTranscript;
  readonly prompt: StoredPrompt;
  readonly files: StoredFiles;
  readonly invocations: RunInvocations;
  readonly outbox: Outbox;
  readonly notices: RunNotices;
  readonly feed: EventFeed;
  readonly clock: Clock;
  /** Progress of the run so far. */
  readonly progress: RunProgress;
  /** Resolves once all writes so far are durable. */
  readonly sync: () => Promise<void>;
  /**
   * Aborts the object when storage fails: uncommitted writes are lost, and the next incarnation
   * continues.
   */
  readonly abandon: (cause: unknown) => void;
}

/**
 * Stores the events and records of a run, and sends the events to readers. Deltas and progress are
 * sent at once and stored a little later, many to a row. Every other event is stored first and sent
 * afterwards, and later events wait for it. So a reader never sees a part, a call or an outcome
 * that a crash could lose. Most writes wait for a later turn of the event loop, because the
 * platform delays every outgoing request until the earlier writes are durable.
 */
export class StoredJournal implements RunJournal {
  readonly #ports: JournalPorts;
  #progress: RunProgress;
  /** The progress that is stored. */
  #stored: RunProgress;
  #messages: TranscriptMessage[] = [];
  #invocations = new Map<number, ToolInvocationRecord>();
  #audits: (readonly [entry: AuditEntry, usedNames?: readonly string[]])[] = [];
  /** Events that are not sent yet, because they are not stored. */
  #held: LoggedEvent[] = [];
  #flushing: { readonly cancel: () => void; readonly withinMs: number } | undefined;
  #listener = (): void => {};
  #observer: ((event: AiEvent) => void) | undefined;

  constructor(ports: JournalPorts) {
    this.#ports = ports;
    this.#progress = ports.progress;
    this.#stored = ports.progress;
  }

  get hasEnded(): boolean {
    return this.#progress.reason !== null;
  }

  /** Number of the step that began last; 0 before the first. */
  get steps(): number {
    return this.#progress.steps;
  }

  get head(): EventPosition {
    return this.#ports.log.head;
  }

  get storedFacts(): RunFacts {
    return this.#stored.facts;
  }

  events(): Iterable<AiEvent> {
    return this.#ports.log.readAll();
  }

  append(events: readonly AiEvent[]): void {
    if (this.hasEnded || events.length === 0) return;
    const { log, feed, clock } = this.#ports;
    const logged = events.map((event) => ({ event, position: log.append(event) }));
    for (const event of events) {
      this.#progress = advance(this.#progress, event, clock);
      this.#observer?.(event);
    }
    if (this.#held.length > 0 || !events.every(isTransient)) {
      this.#held.push(...logged);
      if (events.some(storesAtOnce)) this.flush();
      else this.#flushWithin(STORE_WITHIN_MS);
      return;
    }
    feed.publish(logged);
    if (log.pendingChars > FLUSH_AFTER_CHARS) this.flush();
    else this.#flushWithin(DELTAS_WITHIN_MS);
  }

  keepContext(context: HookContext): void {
    this.#ports.prompt.put("hook_context", { ...context } as JsonObject);
  }

  keepFile(hash: string, base64: string): void {
    if (this.hasEnded) return;
    try {
      this.#ports.files.put(hash, base64);
    } catch (cause) {
      this.#ports.abandon(cause);
    }
  }

  remember(message: TranscriptMessage): void {
    this.#messages.push(message);
    this.#flushWithin(STORE_WITHIN_MS);
  }

  record(invocation: ToolInvocationRecord): void {
    this.#invocations.set(invocation.number, invocation);
    this.#flushWithin(STORE_WITHIN_MS);
  }

  note(facts: Partial<RunFacts>): void {
    this.#progress = { ...this.#progress, facts: { ...this.#progress.facts, ...facts } };
    this.#flushWithin(STORE_WITHIN_MS);
  }

  audit(...ended: readonly [entry: AuditEntry, usedNames?: readonly string[]]): void {
    this.#audits.push(ended);
    this.#flushWithin(STORE_WITHIN_MS);
  }

  /** Stores everything that waits, then sends the events that were held back. */
  flush(): void {
    const { log, store, transcript, invocations, notices, feed, abandon } = this.#ports;
    this.#flushing?.cancel();
    this.#flushing = undefined;
    try {
      store.log.batch(() => {
        for (const message of this.#messages) transcript.add(message);
        for (const invocation of this.#invocations.values()) {
          invocations.put(invocation);
          this.#queuePublication(invocation);
        }
        for (const message of this.#messages) {
          if (message.role !== "user" || message.aboutInvocation === undefined) continue;
          invocations.tell(message.aboutInvocation);
        }
        if ([...this.#invocations.values()].some(concernsOperator)) notices.updated();
        for (const ended of this.#audits) notices.callEnded(...ended);
        this.#storeProgress();
        log.flush();
      });
    } catch (cause) {
      return abandon(cause);
    }
    const held = this.#held;
    this.#messages = [];
    this.#invocations = new Map();
    this.#audits = [];
    this.#stored = this.#progress;
    this.#held = [];
    feed.publish(held);
    this.#listener();
  }

  /** Calls the listener after each time that data was stored. */
  listen(listener: () => void): void {
    this.#listener = listener;
  }

  /** Shows each event to the observer as it is appended, before it is stored. */
  observe(observer: (event: AiEvent) => void): void {
    this.#observer = observer;
  }

  async secure(): Promise<void> {
    this.flush();
    await this.#ports.sync();
  }

  /** Stores the progress; the tenant's object gets a notice of the end and of a new title. */
  #storeProgress(): void {
    const { store, outbox, notices } = this.#ports;
    const [before, now] = [this.#stored, this.#progress];
    if (now === before) return;
    store.saveProgress(now);
    if (now.reason !== before.reason) {
      if (isPublished(store)) outbox.put();
      notices.ended();
    } else if (now.title !== before.title) notices.updated();
  }

  /** Queues the publication of a mutating invocation once it has ended; a record ends once. */
  #queuePublication({ number, binding, end }: ToolInvocationRecord): void {
    if (end && binding?.mutates === true) this.#ports.outbox.put(number);
  }

  #flushWithin(delayMs: number): void {
    const { clock } = this.#ports;
    if (this.#flushing && this.#flushing.withinMs <= delayMs) return;
    this.#flushing?.cancel();
    const cancel = clock.schedule(delayMs, () => this.flush());
    this.#flushing = { cancel, withinMs: delayMs };
  }
}

function concernsOperator(record: ToolInvocationRecord): boolean {
  return awaitsOperator(record) || record.undo?.status === "failed";
}

/**
 * Tells whether the end of a run leaves its object: for a repeated chat under the same key, for the
 * conversation that it continues, or for the run whose call this run undoes.
 */
function isPublished(store: Pick<RunStore, "identity" | "call" | "claimed">): boolean {
  const call = store.call();
  if (call) return call.undoes !== undefined;
  return store.claimed()?.workflowId !== undefined || store.identity().requestHash !== undefined;
}

/** Events that a crash may lose: later events supersede them. */
function isTransient({ type }: AiEvent): boolean {
  return type === "text_delta" || type === "reasoning_delta" || type === "tool_call_progress";
}

/**
 * Events that are stored at once: a steering message shares a commit with its inbox entry, the
 * first step shares one with the claim, a reader waits for the first words of an answer, and no
 * event follows the end.
 */
function storesAtOnce(event: AiEvent): boolean {
  const { type } = event;
  if (type === "step_started") return event.step === 1;
  const isFirstWord = type === "text_started" || type === "reasoning_started";
  return isFirstWord || type === "done" || type === "user_message";
}

function advance(progress: RunProgress, event: AiEvent, clock: Clock): RunProgress {
  if (event.type === "step_started") return { ...progress, steps: event.step };
  if (event.type === "title_set") return { ...progress, title: event.title };
  if (event.type === "step_finished") {
    return { ...progress, usage: addUsage(progress.usage, event.usage) };
  }
  if (event.type !== "done") return progress;
  const { reason, error = null } = event;
  return { ...progress, reason, error, endedMs: clock.nowMs() };
}
