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
 * How long an outcome waits for company before it is stored and sent: a commit costs more than a step
 * of fast tools, so several share one.
 */
const OUTCOME_WITHIN_MS = 5;
/** How long events that say nothing final may wait for their row. */
const FLUSH_AFTER_MS = 1_000;
/** How many of them may wait. Unit: UTF-16 code units of JSON. */
const FLUSH_AFTER_CHARS = 32 * 1024;

export interface JournalPorts {
  readonly log: EventLog;
  readonly store: RunStore;
  readonly feed: EventFeed;
  readonly clock: Clock;
  /** Where the run stands. */
  readonly progress: RunProgress;
}

/**
 * Stores what a run says and sends it on.
 * An outcome (a result, a title, the end of a step or of the run) is stored first and sent then;
 * what comes after it waits behind it. Everything else is sent at once and stored a little later,
 * many to a row.
 * Writes never happen on the spot: the platform holds every outgoing request until the writes before it
 * are durable, and the next model call need not wait for the last one's records.
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
      if (events.at(-1)?.type === "done") this.flush();
      else this.#flushWithin(OUTCOME_WITHIN_MS);
      return;
    }
    if (log.pendingChars > FLUSH_AFTER_CHARS) this.flush();
    else this.#flushWithin(FLUSH_AFTER_MS);
    feed.publish(logged);
  }

  remember(message: TranscriptMessage): void {
    this.#messages.push(message);
    this.#flushWithin(OUTCOME_WITHIN_MS);
  }

  record(invocation: ToolInvocationRecord): void {
    this.#invocations.push(invocation);
    this.#flushWithin(OUTCOME_WITHIN_MS);
  }

  /** Stores everything that waits, then sends what was held back for it. */
  flush(): void {
    const { log, store, feed } = this.#ports;
    this.#flushing?.cancel();
    this.#flushing = undefined;
    for (const message of this.#messages) store.addMessage(message);
    for (const invocation of this.#invocations) store.addInvocation(invocation);
    if (!this.#isProgressStored) store.saveProgress(this.#progress);
    log.flush();
    const held = this.#held;
    this.#messages = [];
    this.#invocations = [];
    this.#isProgressStored = true;
    this.#held = [];
    feed.publish(held);
  }

  #flushWithin(delayMs: number): void {
    const isUrgent = delayMs === OUTCOME_WITHIN_MS;
    if (this.#flushing && (this.#flushing.isUrgent || !isUrgent)) return;
    this.#flushing?.cancel();
    const cancel = this.#ports.clock.schedule(delayMs, () => this.flush());
    this.#flushing = { cancel, isUrgent };
  }

  #note(event: AiEvent): void {
    const progress = advance(this.#progress, event, this.#ports.clock);
    if (progress === this.#progress) return;
    this.#progress = progress;
    this.#isProgressStored = false;
  }
}

function tellsOutcome(event: AiEvent): boolean {
  switch (event.type) {
    case "tool_call_result":
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
