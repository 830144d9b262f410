import type { Clock } from "../../src/capabilities/clock.ts";
import type { RunJournal } from "../../src/capabilities/run-journal.ts";
import type { AiEvent } from "../../src/protocol/ai-event.ts";
import type { ToolInvocationRecord } from "../../src/protocol/tool-invocation.ts";
import type { TranscriptMessage } from "../../src/protocol/transcript-message.ts";
import type { EventFeed } from "./event-feed.ts";
import type { EventLog } from "./event-log.ts";
import type { RunStore } from "./run-store.ts";

/** How long deltas may wait for their row. */
const FLUSH_AFTER_MS = 250;
/** How many may wait. Unit: UTF-16 code units of JSON. */
const FLUSH_AFTER_CHARS = 32 * 1024;

export interface JournalPorts {
  readonly log: EventLog;
  readonly store: RunStore;
  readonly feed: EventFeed;
  readonly clock: Clock;
}

/**
 * Stores what a run says and sends it on. A boundary (anything but a delta) is stored with every
 * delta before it and then sent; the platform holds what is sent until what was stored is durable.
 * Deltas are sent at once and stored a little later, many to a row.
 */
export class StoredJournal implements RunJournal {
  readonly #ports: JournalPorts;
  #ended = false;
  #cancelFlush: (() => void) | undefined;

  constructor(ports: JournalPorts) {
    this.#ports = ports;
  }

  append(events: readonly AiEvent[]): void {
    if (this.#ended) return;
    const { log, feed } = this.#ports;
    const logged = events.map((event) => ({ event, position: log.append(event) }));
    for (const event of events) this.#note(event);
    const isBoundary = events.some((event) => event.type !== "text_delta");
    if (isBoundary || log.pendingChars > FLUSH_AFTER_CHARS) this.#flush();
    else this.#flushSoon();
    feed.publish(logged);
  }

  remember(message: TranscriptMessage): void {
    if (!this.#ended) this.#ports.store.remember(message);
  }

  record(invocation: ToolInvocationRecord): void {
    if (!this.#ended) this.#ports.store.record(invocation);
  }

  #note(event: AiEvent): void {
    const { store, clock } = this.#ports;
    if (event.type === "step_started") store.noteStep(event.step);
    else if (event.type === "step_finished") store.noteUsage(event.usage);
    else if (event.type === "title_set") store.noteTitle(event.title);
    else if (event.type === "done") {
      this.#ended = true;
      store.noteEnd(event.reason, event.error, clock.nowMs());
    }
  }

  #flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    this.#ports.log.flush();
  }

  #flushSoon(): void {
    this.#cancelFlush ??= this.#ports.clock.schedule(FLUSH_AFTER_MS, () => this.#flush());
  }
}
