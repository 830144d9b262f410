import type { Clock } from "../../src/capabilities/system.ts";
import type { EventEncoder } from "../../src/capabilities/run-journal.ts";
import type { AiEvent, LoggedEvent } from "../../src/protocol/run/event.ts";
import type { EventLog } from "./event-log.ts";

/** Bytes a reader may leave unread before it must fetch the rest from the log. */
const MAX_UNREAD_BYTES = 128 * 1024;
/** Readers of one run at a time; together they may leave 16 MiB unread. */
const MAX_READERS = 128;
const HEARTBEAT_AFTER_MS = 15_000;

/** What a feed reads and how it writes it; `ended` when the log already holds `done`. */
export interface FeedPorts {
  readonly log: EventLog;
  readonly encoder: EventEncoder;
  readonly clock: Clock;
  readonly ended: boolean;
}

/**
 * Sends a run's events to its readers. Each batch is encoded once and handed to every reader that
 * keeps up; one that does not is served from the log at its own speed, so it holds back nobody and
 * costs a bounded amount of memory.
 */
export class EventFeed {
  readonly #log: EventLog;
  readonly #readers = new Set<Reader>();
  readonly #encoder: EventEncoder;
  readonly #clock: Clock;
  readonly #utf8 = new TextEncoder();
  #ended: boolean;
  /** The log may hold later events that are not to be seen yet. */
  #publishedSeq: number;
  /** Where the run said that it waits for people, and has not gone on; zero while it goes; unknown at first. */
  #waitingSeq: number | undefined;
  #stopHeartbeat: (() => void) | undefined;

  constructor({ log, encoder, clock, ended }: FeedPorts) {
    this.#log = log;
    this.#encoder = encoder;
    this.#clock = clock;
    this.#ended = ended;
    this.#publishedSeq = log.headSeq;
  }

  /** Sends events that the log holds next: at once to everyone who is level, from the log to the others. */
  publish(batch: readonly LoggedEvent[]): void {
    const [first] = batch;
    const last = batch.at(-1);
    if (!first || !last) return;
    if (last.event.type === "done") this.#ended = true;
    this.#publishedSeq = last.position.seq;
    for (const { event, position } of batch) {
      if (event.type === "run_waiting") this.#waitingSeq = position.seq;
      else if (!isSaidWhileWaiting(event)) this.#waitingSeq = 0;
    }
    let bytes: Uint8Array | undefined;
    for (const reader of this.#readers) {
      if ((reader.controller.desiredSize ?? 0) <= 0) continue;
      if (reader.seq === first.position.seq - 1) {
        bytes ??= this.#encode(batch);
        this.#hand(reader, bytes, last.position.seq);
      }
      this.#catchUp(reader);
    }
  }

  /** Tells whether another reader would be one too many: each may leave some bytes unread. */
  get isFull(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  /**
   * Opens a stream of every event after `seq`, those to come included. Once it has told that the run waits for
   * people it ends: nobody holds a connection for as long as people take. A reader that begins after that
   * has come to see how it goes on, and stays.
   */
  open(seq: number): ReadableStream<Uint8Array> {
    let reader: Reader | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = { controller, seq, since: seq };
          this.#readers.add(reader);
          this.#catchUp(reader);
          this.#beat();
        },
        pull: () => {
          if (reader) this.#catchUp(reader);
        },
        cancel: () => {
          if (reader) this.#forget(reader);
        },
      },
      { highWaterMark: MAX_UNREAD_BYTES, size: (chunk) => chunk.byteLength },
    );
  }

  /** Feeds a reader from the log until it is level or has enough unread. */
  #catchUp(reader: Reader): void {
    while (reader.seq < this.#publishedSeq && (reader.controller.desiredSize ?? 0) > 0) {
      const batch = this.#log
        .readAfter(reader.seq)
        .filter(({ position }) => position.seq <= this.#publishedSeq);
      const last = batch.at(-1);
      if (!last) break;
      this.#hand(reader, this.#encode(batch), last.position.seq);
    }
    this.#closeIfDone(reader);
  }

  /** The platform may call `pull` from within `enqueue`, so the reader moves on first. */
  #hand(reader: Reader, bytes: Uint8Array, seq: number): void {
    reader.seq = seq;
    reader.controller.enqueue(bytes);
  }

  #closeIfDone(reader: Reader): void {
    if (reader.seq < this.#publishedSeq || !this.#readers.has(reader)) return;
    // Looked up only once somebody reads: a log that cannot be read must not keep the run from being taken up.
    this.#waitingSeq ??= findWaiting(this.#log);
    const knowsThatItWaits = reader.since < this.#waitingSeq;
    if (!this.#ended && !knowsThatItWaits) return;
    this.#forget(reader);
    if (!this.#ended) reader.controller.enqueue(this.#utf8.encode(this.#encoder.trailer));
    reader.controller.close();
  }

  /** A timer keeps the object awake, so it goes with the last reader. */
  #forget(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    this.#stopHeartbeat?.();
    this.#stopHeartbeat = undefined;
  }

  /** Sends comments to readers that have nothing unread, for as long as there are readers. */
  #beat(): void {
    if (this.#readers.size === 0) return;
    this.#stopHeartbeat ??= this.#clock.schedule(HEARTBEAT_AFTER_MS, () => {
      this.#stopHeartbeat = undefined;
      const bytes = this.#utf8.encode(this.#encoder.heartbeat);
      for (const { controller } of this.#readers) {
        if (controller.desiredSize === MAX_UNREAD_BYTES) controller.enqueue(bytes);
      }
      this.#beat();
    });
  }

  #encode(batch: readonly LoggedEvent[]): Uint8Array {
    let text = "";
    for (const { event, position } of batch) text += this.#encoder.encode(event, position);
    return this.#utf8.encode(text);
  }
}

/** What may be said while a run waits: it does not go on by that. */
function isSaidWhileWaiting({ type }: AiEvent): boolean {
  return type === "approval_updated" || type === "user_message";
}

/** Finds in the log of an earlier life where the run began to wait; zero where it does not. */
function findWaiting(log: EventLog): number {
  for (let seq = log.headSeq; seq > 0; seq--) {
    const [last] = log.readAfter(seq - 1);
    if (last?.event.type === "run_waiting") return seq;
    if (!last || !isSaidWhileWaiting(last.event)) return 0;
  }
  return 0;
}

interface Reader {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** After which event it began. */
  readonly since: number;
  /** Last event handed over. */
  seq: number;
}
