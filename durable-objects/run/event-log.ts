import type { AiEvent, LoggedEvent } from "../../src/protocol/run/event.ts";
import type { EventPosition } from "../../src/protocol/run/event-id.ts";
import type { PackedText } from "../packed-text.ts";
import type { RunLog } from "./run-log.ts";

/**
 * Text that one stored row may hold; a row may not pass 2 MB. Unit: UTF-16 code units, estimated.
 */
const MAX_ROW_CHARS = 256 * 1024;
/** Events of one row. The limit bounds how many events a read parses without need. */
const MAX_ROW_EVENTS = 512;
/** JSON around the text of a delta. Unit: UTF-16 code units. */
const DELTA_FRAME_CHARS = 48;

/**
 * The events of a run in SQLite, many to a row: writes are coalesced, events are not. The log
 * assigns sequence numbers, from 1 on.
 * Ownership: one per run object; the only writer of events.
 */
export class EventLog {
  readonly #sql: SqlStorage;
  readonly #log: RunLog;
  #epoch: number;
  #storedSeq: number;
  #pending: PendingEvent[] = [];
  #pendingChars = 0;

  constructor(sql: SqlStorage, log: RunLog, epoch: number) {
    this.#sql = sql;
    this.#log = log;
    this.#epoch = epoch;
    this.#storedSeq = log.lastEventSeq();
  }

  /** Begins the epoch of a recovery. Contract: called before the first event of the recovery. */
  beginEpoch(epoch: number): void {
    this.#epoch = epoch;
  }

  /** Sequence number of the last event, stored or not. */
  get headSeq(): number {
    return this.#storedSeq + this.#pending.length;
  }

  /** Position of the last event, stored or not. */
  get head(): EventPosition {
    return { epoch: this.#epoch, seq: this.headSeq };
  }

  /** Size of the events that are not stored yet. Unit: UTF-16 code units, estimated. */
  get pendingChars(): number {
    return this.#pendingChars;
  }

  /** Adds an event in memory and answers its position. */
  append(event: AiEvent): EventPosition {
    const pending = toPending(event);
    this.#pending.push(pending);
    this.#pendingChars += pending.chars;
    return { epoch: this.#epoch, seq: this.headSeq };
  }

  /** Stores all pending events, in as many rows as they need. */
  flush(): void {
    for (const row of toRows(this.#pending)) {
      const firstSeq = this.#storedSeq + 1;
      this.#storedSeq += row.length;
      const lastSeq = this.#storedSeq;
      const body = `[${row.map(textOf).join(",")}]`;
      this.#log.putEvents({ firstSeq, lastSeq, epoch: this.#epoch, body });
    }
    this.#pending = [];
    this.#pendingChars = 0;
  }

  /**
   * Reads events after `seq`: the rest of the first row that reaches past `seq`, or pending events.
   * Contract: writes nothing; empty only when `seq` is the head.
   */
  readAfter(seq: number): readonly LoggedEvent[] {
    if (seq >= this.#storedSeq) return this.#pendingAfter(seq);
    const row = this.#sql
      .exec<EventRow>(`SELECT ${EVENTS} FROM log WHERE last_seq > ? ORDER BY seq LIMIT 1`, seq)
      .one();
    return this.#eventsOf(row).slice(Math.max(0, seq + 1 - row.first_seq));
  }

  /** Reads the whole log, row by row. Contract: as of `entries`. */
  *readAll(): Generator<AiEvent> {
    for (const { event } of this.entries()) yield event;
  }

  /**
   * Reads the whole log with the position of each event, row by row, in one statement.
   * Contract: it is read to its end in one turn, and nothing is appended meanwhile.
   */
  *entries(): Generator<LoggedEvent> {
    const rows = this.#sql.exec<EventRow>(
      `SELECT ${EVENTS} FROM log WHERE last_seq > 0 ORDER BY seq`,
    );
    for (const row of rows) yield* this.#eventsOf(row);
    for (let seq = this.#storedSeq; seq < this.headSeq;) {
      const pending = this.#pendingAfter(seq);
      yield* pending;
      seq += pending.length;
    }
  }

  /**
   * Answers the sequence number after which a reader resumes that has seen `after`; undefined for a
   * position that the run never reached. A reader of an earlier epoch may have seen deltas that a
   * crash lost: this reader resumes after the last stored event of that epoch.
   */
  resumeAfter(after: EventPosition): number | undefined {
    if (after.epoch > this.#epoch) return undefined;
    if (after.epoch === this.#epoch) return after.seq <= this.headSeq ? after.seq : undefined;
    const { seq } = this.#sql
      .exec<{ seq: number }>(
        "SELECT coalesce(max(last_seq), 0) AS seq FROM log WHERE epoch <= ?",
        after.epoch,
      )
      .one();
    return Math.min(after.seq, seq);
  }

  #pendingAfter(seq: number): readonly LoggedEvent[] {
    const from = seq - this.#storedSeq;
    return this.#pending.slice(from, from + MAX_ROW_EVENTS).map(({ event }, index) => ({
      event,
      position: { epoch: this.#epoch, seq: seq + 1 + index },
    }));
  }

  #eventsOf({ first_seq, epoch, body, base }: EventRow): readonly LoggedEvent[] {
    const events = JSON.parse(this.#log.unpack(body, base)) as readonly AiEvent[];
    return events.map((event, index) => ({ event, position: { epoch, seq: first_seq + index } }));
  }
}

/** Columns of a row with events. */
const EVENTS = "first_seq, epoch, body, base";
type EventRow = { first_seq: number; epoch: number; body: PackedText; base: number | null };

/** An event that is not stored yet. */
interface PendingEvent {
  readonly event: AiEvent;
  /** Its JSON; of a delta, of which there are many, it is written with the row. */
  readonly text: string | undefined;
  /** Unit: UTF-16 code units, estimated. */
  readonly chars: number;
}

function toPending(event: AiEvent): PendingEvent {
  if (event.type === "text_delta" || event.type === "reasoning_delta") {
    return { event, text: undefined, chars: event.text.length + DELTA_FRAME_CHARS };
  }
  const text = JSON.stringify(event);
  return { event, text, chars: text.length };
}

function textOf({ event, text }: PendingEvent): string {
  return text ?? JSON.stringify(event);
}

function* toRows(pending: readonly PendingEvent[]): Generator<readonly PendingEvent[]> {
  let row: PendingEvent[] = [];
  let chars = 0;
  for (const one of pending) {
    if (row.length >= MAX_ROW_EVENTS || (row.length > 0 && chars + one.chars > MAX_ROW_CHARS)) {
      yield row;
      row = [];
      chars = 0;
    }
    row.push(one);
    chars += one.chars;
  }
  if (row.length > 0) yield row;
}
