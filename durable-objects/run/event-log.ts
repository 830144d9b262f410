import type { AiEvent } from "../../src/protocol/run/event.ts";
import type { EventPosition } from "../../src/protocol/run/event-id.ts";

/** One event and where it stands. */
export interface LoggedEvent {
  readonly event: AiEvent;
  readonly position: EventPosition;
}

/** Text that one stored row may hold; a row may not pass 2 MB. Unit: UTF-16 code units, estimated. */
const MAX_ROW_CHARS = 256 * 1024;
/** Events of one row, so that reading after a position never parses much it does not need. */
const MAX_ROW_EVENTS = 512;
/** What a delta takes beside its text. */
const DELTA_FRAME_CHARS = 48;

/**
 * A run's events in SQLite, many to a row: writes are coalesced, events are not. Sequence numbers
 * start at 1 and are assigned here.
 * Ownership: one per run object; the only writer of the `events` table.
 */
export class EventLog {
  readonly #sql: SqlStorage;
  #epoch: number;
  #storedSeq: number;
  #pending: AiEvent[] = [];
  #pendingChars = 0;

  constructor(sql: SqlStorage, epoch: number) {
    this.#sql = sql;
    this.#epoch = epoch;
    this.#storedSeq = sql
      .exec<{ seq: number }>("SELECT coalesce(max(last_seq), 0) AS seq FROM events")
      .one().seq;
  }

  /** Begins the epoch of a recovery. Contract: comes before the first event of it. */
  beginEpoch(epoch: number): void {
    this.#epoch = epoch;
  }

  /** Sequence number of the last event, stored or not. */
  get headSeq(): number {
    return this.#storedSeq + this.#pending.length;
  }

  /** Unit: UTF-16 code units not yet stored, estimated. */
  get pendingChars(): number {
    return this.#pendingChars;
  }

  /** Takes an event in memory and answers its position. */
  append(event: AiEvent): EventPosition {
    this.#pending.push(event);
    this.#pendingChars += estimateChars(event);
    return { epoch: this.#epoch, seq: this.headSeq };
  }

  /** Stores what is pending, in as many rows as it takes. */
  flush(): void {
    for (const row of toRows(this.#pending)) {
      const firstSeq = this.#storedSeq + 1;
      this.#storedSeq += row.length;
      this.#sql.exec(
        "INSERT INTO events (first_seq, last_seq, epoch, body) VALUES (?, ?, ?, ?)",
        firstSeq,
        this.#storedSeq,
        this.#epoch,
        JSON.stringify(row),
      );
    }
    this.#pending = [];
    this.#pendingChars = 0;
  }

  /**
   * Reads events after `seq`: the rest of the first row that reaches past it, or what is pending.
   * Contract: writes nothing; empty only at the head.
   */
  readAfter(seq: number): readonly LoggedEvent[] {
    if (seq >= this.#storedSeq) {
      const from = seq - this.#storedSeq;
      return this.#pending
        .slice(from, from + MAX_ROW_EVENTS)
        .map((event, index) => this.#place(event, seq + 1 + index, this.#epoch));
    }
    const row = this.#sql
      .exec<{ first_seq: number; epoch: number; body: string }>(
        "SELECT first_seq, epoch, body FROM events WHERE last_seq > ? ORDER BY first_seq LIMIT 1",
        seq,
      )
      .one();
    const events = JSON.parse(row.body) as readonly AiEvent[];
    return events
      .slice(Math.max(0, seq + 1 - row.first_seq))
      .map((event, index) =>
        this.#place(event, Math.max(seq + 1, row.first_seq) + index, row.epoch),
      );
  }

  /** Reads the whole log, row by row. */
  *readAll(): Generator<AiEvent> {
    for (const { event } of this.entries()) yield event;
  }

  /** Reads the whole log with the place of each event, row by row. */
  *entries(): Generator<LoggedEvent> {
    for (let seq = 0; seq < this.headSeq;) {
      for (const entry of this.readAfter(seq)) {
        ({ seq } = entry.position);
        yield entry;
      }
    }
  }

  /**
   * Tells after which sequence number a reader goes on who has seen `after`; undefined for a position
   * that was never reached. A reader of an earlier epoch may have seen deltas that a crash lost: it
   * goes on after the last one of that epoch that was stored.
   */
  resumeAfter(after: EventPosition): number | undefined {
    if (after.epoch > this.#epoch) return undefined;
    if (after.epoch === this.#epoch) return after.seq <= this.headSeq ? after.seq : undefined;
    const { seq } = this.#sql
      .exec<{ seq: number }>(
        "SELECT coalesce(max(last_seq), 0) AS seq FROM events WHERE epoch <= ?",
        after.epoch,
      )
      .one();
    return Math.min(after.seq, seq);
  }

  #place(event: AiEvent, seq: number, epoch: number): LoggedEvent {
    return { event, position: { epoch, seq } };
  }
}

function estimateChars(event: AiEvent): number {
  return event.type === "text_delta"
    ? event.text.length + DELTA_FRAME_CHARS
    : JSON.stringify(event).length;
}

function* toRows(events: readonly AiEvent[]): Generator<readonly AiEvent[]> {
  let row: AiEvent[] = [];
  let chars = 0;
  for (const event of events) {
    const more = estimateChars(event);
    if (row.length >= MAX_ROW_EVENTS || (row.length > 0 && chars + more > MAX_ROW_CHARS)) {
      yield row;
      row = [];
      chars = 0;
    }
    row.push(event);
    chars += more;
  }
  if (row.length > 0) yield row;
}
