import type { AiEvent } from "../../src/protocol/ai-event.ts";
import type { EventPosition } from "../../src/protocol/event-id.ts";

/** One event and where it stands. */
export interface LoggedEvent {
  readonly event: AiEvent;
  readonly position: EventPosition;
}

/** Text that one stored row may hold; a row may not pass 2 MB. Unit: UTF-16 code units. */
const MAX_ROW_CHARS = 256 * 1024;
/** Events of one row, so that reading after a position never parses much it does not need. */
const MAX_ROW_EVENTS = 512;

/**
 * A run's events in SQLite, many to a row: writes are coalesced, events are not. Sequence numbers
 * start at 1 and are assigned here.
 * Ownership: one per run object; the only writer of the `events` table.
 */
export class EventLog {
  readonly #sql: SqlStorage;
  readonly #epoch: number;
  #storedSeq: number;
  #pending: string[] = [];
  #pendingChars = 0;

  constructor(sql: SqlStorage, epoch: number) {
    this.#sql = sql;
    this.#epoch = epoch;
    this.#storedSeq = sql
      .exec<{ seq: number }>("SELECT coalesce(max(last_seq), 0) AS seq FROM events")
      .one().seq;
  }

  /** Sequence number of the last event, stored or not. */
  get headSeq(): number {
    return this.#storedSeq + this.#pending.length;
  }

  /** Unit: UTF-16 code units not yet stored. */
  get pendingChars(): number {
    return this.#pendingChars;
  }

  /** Takes an event in memory and answers its position. */
  append(event: AiEvent): EventPosition {
    const text = JSON.stringify(event);
    if (
      this.#pendingChars + text.length > MAX_ROW_CHARS ||
      this.#pending.length >= MAX_ROW_EVENTS
    ) {
      this.flush();
    }
    this.#pending.push(text);
    this.#pendingChars += text.length;
    return { epoch: this.#epoch, seq: this.headSeq };
  }

  /** Stores what is pending as one row. */
  flush(): void {
    if (this.#pending.length === 0) return;
    const lastSeq = this.headSeq;
    this.#sql.exec(
      "INSERT INTO events (first_seq, last_seq, epoch, body) VALUES (?, ?, ?, ?)",
      this.#storedSeq + 1,
      lastSeq,
      this.#epoch,
      `[${this.#pending.join(",")}]`,
    );
    this.#storedSeq = lastSeq;
    this.#pending = [];
    this.#pendingChars = 0;
  }

  /** Reads the events of the first row that reaches past `seq`. Contract: stores what is pending first. */
  readAfter(seq: number): readonly LoggedEvent[] {
    this.flush();
    const [row] = this.#sql
      .exec<{ first_seq: number; epoch: number; body: string }>(
        "SELECT first_seq, epoch, body FROM events WHERE last_seq > ? ORDER BY first_seq LIMIT 1",
        seq,
      )
      .toArray();
    if (!row) return [];
    const events = JSON.parse(row.body) as readonly AiEvent[];
    return events
      .map((event, index) => ({
        event,
        position: { epoch: row.epoch, seq: row.first_seq + index },
      }))
      .filter(({ position }) => position.seq > seq);
  }

  /** Reads the whole log, row by row. */
  *readAll(): Generator<LoggedEvent> {
    let seq = 0;
    while (seq < this.headSeq) {
      for (const logged of this.readAfter(seq)) {
        seq = logged.position.seq;
        yield logged;
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
}
