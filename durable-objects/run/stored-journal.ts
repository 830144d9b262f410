import type { Clock } from "../../src/capabilities/clock.ts";
import type { RunJournal } from "../../src/capabilities/run-journal.ts";
import type { AiEvent } from "../../src/protocol/ai-event.ts";
import type { ToolInvocationRecord } from "../../src/protocol/tool-invocation.ts";
import type { TranscriptMessage } from "../../src/protocol/transcript-message.ts";
import { addUsage } from "../../src/protocol/usage.ts";
import type { EventFeed } from "./event-feed.ts";
import type { EventLog, LoggedEvent } from "./event-log.ts";
import type { RunProgress, RunStore } from "./run-store.ts";

/**
 * How long anything but a delta or progress waits for company before it is stored: a commit costs more than a step
 * of fast tools, so several share one.
 */
const STORE_WITHIN_MS = 5;
/** How long deltas and progress may wait for their row. */
const DELTAS_WITHIN_MS = 1_000;
/** How many of them may wait. Unit: UTF-16 code units of JSON. */
const FLUSH_AFTER_CHARS = 32 * 1024;

export interface JournalPorts {
  readonly log: EventLog;
  readonly store: RunStore;
  readonly feed: EventFeed;
  readonly clock: Clock;
  /** Where the run stands. */
  readonly progress: RunProgress;
  /** Gives the object up when storage fails: what was not committed falls, and the next life ends the run. */
  readonly abandon: (cause: unknown) => void;
}

/**
 * Stores what a run says and sends it on.
 * An outcome (a result, a message or a title that was taken, the end of a step or of the run) is stored
 * first and sent then; what comes after it waits behind it. Everything else is sent at once and stored
 * a little later, deltas and progress many to a row.
 * Storing waits for a later turn of the event loop, the end of the run and a message excepted: the
 * platform holds every outgoing request until the writes before it are durable, and the next model call
 * need not wait for the last one's records.
 */
export class StoredJournal implements RunJournal {
  readonly #ports: JournalPorts;
  #progress: RunProgress;
  #isProgressStored = true;
  #messages: TranscriptMessage[] = [];
  #invocations: ToolInvocationRecord[] = [];
  /** Events that are held back until an outcome among them is stored. */
  #held: LoggedEvent[] = [];
  #flushing: { readonly cancel: () => void; readonly isUrgent: boolean } | undefined;

  constructor(ports: JournalPorts) {
    this.#ports = ports;
    this.#progress = ports.progress;
  }

  get hasEnded(): boolean {
    return this.#progress.reason !== null;
  }

  append(events: readonly AiEvent[]): void {
    if (this.hasEnded) return;
    const { log, feed } = this.#ports;
    const logged = events.map((event) => ({ event, position: log.append(event) }));
    for (const event of events) this.#note(event);
    const isOutcome = events.some(tellsOutcome);
    if (isOutcome || this.#held.length > 0) {
      this.#held.push(...logged);
      if (events.some(storesAtOnce)) this.#flush();
      else this.#flushWithin(STORE_WITHIN_MS);
      return;
    }
    feed.publish(logged);
    if (log.pendingChars > FLUSH_AFTER_CHARS) this.#flush();
    else if (events.every(isPassing)) this.#flushWithin(DELTAS_WITHIN_MS);
    else this.#flushWithin(STORE_WITHIN_MS);
  }

  remember(message: TranscriptMessage): void {
    this.#messages.push(message);
    this.#flushWithin(STORE_WITHIN_MS);
  }

  record(invocation: ToolInvocationRecord): void {
    this.#invocations.push(invocation);
    this.#flushWithin(STORE_WITHIN_MS);
  }

  /** Stores everything that waits, then sends what was held back for it. */
  #flush(): void {
    const { log, store, feed, abandon } = this.#ports;
    this.#flushing?.cancel();
    this.#flushing = undefined;
    try {
      for (const message of this.#messages) store.addMessage(message);
      for (const invocation of this.#invocations) store.addInvocation(invocation);
      if (!this.#isProgressStored) store.saveProgress(this.#progress);
      log.flush();
    } catch (cause) {
      return abandon(cause);
    }
    const held = this.#held;
    this.#messages = [];
    this.#invocations = [];
    this.#isProgressStored = true;
    this.#held = [];
    feed.publish(held);
  }

  #flushWithin(delayMs: number): void {
    const isUrgent = delayMs === STORE_WITHIN_MS;
    if (this.#flushing && (this.#flushing.isUrgent || !isUrgent)) return;
    this.#flushing?.cancel();
    const cancel = this.#ports.clock.schedule(delayMs, () => this.#flush());
    this.#flushing = { cancel, isUrgent };
  }

  #note(event: AiEvent): void {
    const progress = advance(this.#progress, event, this.#ports.clock);
    if (progress === this.#progress) return;
    this.#progress = progress;
    this.#isProgressStored = false;
  }
}

/** Says little for itself: what comes next says more. */
function isPassing({ type }: AiEvent): boolean {
  return type === "text_delta" || type === "tool_call_progress";
}

/** A message goes into the log together with its place in the inbox; nothing comes after the end. */
function storesAtOnce({ type }: AiEvent): boolean {
  return type === "done" || type === "user_message";
}

function tellsOutcome(event: AiEvent): boolean {
  switch (event.type) {
    case "tool_call_result":
    case "user_message":
    case "title_set":
    case "step_finished":
    case "done":
      return true;
    case "run_started":
    case "step_started":
    case "text_started":
    case "text_delta":
    case "text_finished":
    case "tool_call_proposed":
    case "tool_call_start":
    case "tool_call_progress":
      return false;
  }
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
