import type { Clock } from "../../src/capabilities/system.ts";
import {
  encodeEvents,
  type ClientWire,
  type StreamedRun,
} from "../../src/protocol/run/client-wire.ts";
import type { LoggedEvent } from "../../src/protocol/run/event.ts";
import type { EventLog } from "./event-log.ts";

/** Unread bytes per reader; a reader with more unread bytes gets the rest from the log later. */
const MAX_UNREAD_BYTES = 128 * 1024;
/** Readers of one run at a time; together they may leave 16 MiB unread. */
const MAX_READERS = 128;
const HEARTBEAT_AFTER_MS = 15_000;

export interface FeedPorts {
  readonly log: EventLog;
  readonly run: StreamedRun;
  readonly clock: Clock;
  /** True when the log already holds `done`. */
  readonly ended: boolean;
  /** True when the run waits for people, without a loop. */
  readonly isWaiting: boolean;
}

/**
 * Sends the events of a run to its readers, each in the wire of the reader. Each batch is encoded
 * once per wire and handed to every reader that keeps up. A slow reader gets its events from the
 * log at its own speed, so it delays no other reader and costs a bounded amount of memory.
 */
export class EventFeed {
  readonly #log: EventLog;
  readonly #readers = new Set<Reader>();
  readonly #run: StreamedRun;
  readonly #clock: Clock;
  readonly #utf8 = new TextEncoder();
  #ended: boolean;
  #isWaiting: boolean;
  /** Last event that readers may see; the log may hold later events that are not stored yet. */
  #publishedSeq: number;
  #stopHeartbeat: (() => void) | undefined;

  constructor({ log, run, clock, ended, isWaiting }: FeedPorts) {
    this.#log = log;
    this.#run = run;
    this.#clock = clock;
    this.#ended = ended;
    this.#isWaiting = isWaiting;
    this.#publishedSeq = log.headSeq;
  }

  /**
   * Sends the next events. Readers that have all earlier events get the batch at once; the other
   * readers read these events from the log.
   */
  publish(batch: readonly LoggedEvent[]): void {
    const [first] = batch;
    const last = batch.at(-1);
    if (!first || !last) return;
    if (last.event.type === "done") this.#ended = true;
    this.#publishedSeq = last.position.seq;
    const encoded = new Map<ClientWire, Uint8Array>();
    for (const reader of this.#readers) {
      if ((reader.controller.desiredSize ?? 0) <= 0) continue;
      if (reader.seq === first.position.seq - 1) {
        const bytes = encoded.get(reader.wire) ?? this.#encode(batch, reader.wire);
        encoded.set(reader.wire, bytes);
        this.#send(reader, bytes, last.position.seq);
      }
      this.#catchUp(reader);
    }
  }

  /** The run begins to wait: ends the stream of each reader that has every event. */
  rest(): void {
    this.#isWaiting = true;
    for (const reader of this.#readers) this.#closeIfDone(reader);
  }

  /** The run continues: streams stay open again. */
  resume(): void {
    this.#isWaiting = false;
  }

  /** True when the run has as many readers as its memory allows. */
  get isFull(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  /**
   * Opens a stream of every event after `seq`, future events included. While the run waits for
   * people, the stream ends after the last event and says when to return: an open stream would keep
   * the object awake, and one of the run's reader places occupied, for as long as people think.
   */
  open(seq: number, wire: ClientWire): ReadableStream<Uint8Array> {
    let reader: Reader | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = { controller, wire, seq };
          this.#readers.add(reader);
          this.#catchUp(reader);
          this.#scheduleHeartbeat();
        },
        pull: () => {
          if (reader) this.#catchUp(reader);
        },
        cancel: () => {
          if (reader) this.#remove(reader);
        },
      },
      { highWaterMark: MAX_UNREAD_BYTES, size: (chunk) => chunk.byteLength },
    );
  }

  /**
   * Sends events from the log to a reader, until the reader has all of them or its buffer is full.
   */
  #catchUp(reader: Reader): void {
    while (reader.seq < this.#publishedSeq && (reader.controller.desiredSize ?? 0) > 0) {
      const batch = this.#log
        .readAfter(reader.seq)
        .filter(({ position }) => position.seq <= this.#publishedSeq);
      const last = batch.at(-1);
      if (!last) break;
      this.#send(reader, this.#encode(batch, reader.wire), last.position.seq);
    }
    this.#closeIfDone(reader);
  }

  /** Updates `seq` first, because the platform may call `pull` from within `enqueue`. */
  #send(reader: Reader, bytes: Uint8Array, seq: number): void {
    reader.seq = seq;
    if (bytes.byteLength > 0) reader.controller.enqueue(bytes);
  }

  #closeIfDone(reader: Reader): void {
    if (reader.seq < this.#publishedSeq || !this.#readers.has(reader)) return;
    if (!this.#ended && !this.#isWaiting) return;
    this.#remove(reader);
    if (!this.#ended) reader.controller.enqueue(this.#utf8.encode(reader.wire.trailer));
    reader.controller.close();
  }

  /** Removes a reader. A timer keeps the object awake, so the timer stops with the last reader. */
  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    this.#stopHeartbeat?.();
    this.#stopHeartbeat = undefined;
  }

  /** Sends heartbeats to readers that have nothing unread, as long as there are readers. */
  #scheduleHeartbeat(): void {
    if (this.#readers.size === 0) return;
    this.#stopHeartbeat ??= this.#clock.schedule(HEARTBEAT_AFTER_MS, () => {
      this.#stopHeartbeat = undefined;
      for (const { controller, wire } of this.#readers) {
        const isIdle = controller.desiredSize === MAX_UNREAD_BYTES;
        if (isIdle) controller.enqueue(this.#utf8.encode(wire.heartbeat));
      }
      this.#scheduleHeartbeat();
    });
  }

  #encode(batch: readonly LoggedEvent[], wire: ClientWire): Uint8Array {
    return this.#utf8.encode(encodeEvents(wire, batch, this.#run));
  }
}

interface Reader {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly wire: ClientWire;
  /** Sequence number of the last event that the reader got. */
  seq: number;
}
