import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import type { TenantNotice } from "../../src/protocol/run/tenant-notice.ts";
import { textOf, LogRows, type EventRow, type LogRow } from "./log-rows.ts";
import { MAX_ROW_CHARS, splitText, type PackedText } from "../packed-text.ts";
import type { RunProgress } from "../../src/run/progress.ts";
import type { DecisionLog, InvocationEntry, RefusalEntry } from "../../src/run/stored-run.ts";

/** What one entry of the log changes. Events are not entries: they have a column of their own. */
export type LogEntry =
  | { readonly kind: "message"; readonly message: TranscriptMessage }
  | InvocationEntry
  /** The fields of the progress that changed. */
  | { readonly kind: "progress"; readonly changed: Partial<RunProgress> }
  | { readonly kind: "notice"; readonly seq: number; readonly notice: TenantNotice }
  | { readonly kind: "publication"; readonly seq: number; readonly invocation: number | null }
  | RefusalEntry
  /** A publication was delivered. The row of the run says which notices were. */
  | { readonly kind: "delivered"; readonly seq: number };

/**
 * The append-only log of a run: what its loop does, one row for all that is stored together.
 * Ownership: one per run object; the only writer of the `log` table after row 0. Rows never change;
 * the log is emptied when the run shrinks.
 */
export class RunLog implements DecisionLog {
  readonly #sql: SqlStorage;
  readonly #rows: LogRows;
  /** Undefined until the rows are summed up. */
  #savedBytes: number | undefined;
  #grownChars = 0;
  /** No event is stored, and nothing needs to look for one. */
  #hasNoEvents = false;
  #depth = 0;
  #entries: LogEntry[] = [];
  #events: EventRow[] = [];

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#rows = new LogRows(sql);
  }

  /** Stores an entry: at once, or with the batch around the call. */
  put(entry: LogEntry): void {
    this.batch(() => this.#entries.push(entry));
  }

  /** Stores a row of events like an entry. */
  putEvents(row: EventRow): void {
    this.batch(() => this.#events.push(row));
  }

  /**
   * Stores everything that `work` puts, in as few rows as possible. A batch in a batch is part of
   * it. Fails: throws the error of the storage, or of `work`; the object must then be aborted.
   */
  batch<T>(work: () => T): T {
    this.#depth++;
    let done: T;
    try {
      done = work();
    } catch (cause) {
      this.#take();
      throw cause;
    } finally {
      this.#depth--;
    }
    if (this.#depth === 0) this.#store();
    return done;
  }

  /** Reads all entries, in order. */
  *entries(): Generator<LogEntry> {
    let text = "";
    const rows = this.#sql.exec<{ state: PackedText; base: number | null; is_partial: number }>(
      "SELECT state, base, is_partial FROM log WHERE state IS NOT NULL ORDER BY seq",
    );
    for (const { state, base, is_partial: isPartial } of rows.toArray()) {
      text += this.unpack(state, base);
      if (isPartial === 1) continue;
      yield* JSON.parse(text) as readonly LogEntry[];
      text = "";
    }
  }

  /** Reads a text of a row. `base` is the column of that name. */
  unpack(packed: PackedText, base: number | null): string {
    return this.#rows.unpack(packed, base);
  }

  /** How much larger the texts are than what is stored of them. Unit: bytes. */
  get savedBytes(): number {
    this.#savedBytes ??= this.#sql
      .exec<{ saved: number }>("SELECT coalesce(sum(saved), 0) AS saved FROM log")
      .one().saved;
    return this.#savedBytes;
  }

  /** What this incarnation has added, before compression. Unit: UTF-16 code units. */
  get grownChars(): number {
    return this.#grownChars;
  }

  /** Knows that the log is new, so that nothing sums it up. */
  beginEmpty(): void {
    this.#savedBytes = 0;
    this.#hasNoEvents = true;
  }

  /** Number of the last stored event; 0 without any. */
  lastEventSeq(): number {
    if (this.#hasNoEvents) return 0;
    return this.#sql
      .exec<{ seq: number }>("SELECT coalesce(max(last_seq), 0) AS seq FROM log")
      .one().seq;
  }

  /** Deletes everything. Contract: part of a transaction of the caller. */
  clear(): void {
    this.#rows.clear();
    this.#savedBytes = undefined;
  }

  #store(): void {
    const { entries, events } = this.#take();
    const rows = toLogRows(entries, events);
    if (events.length > 0) this.#hasNoEvents = false;
    for (const row of rows) this.#grownChars += textOf(row).length;
    const saved = rows.map((row) => this.#rows.append(row));
    if (this.#savedBytes !== undefined) this.#savedBytes += saved.reduce((a, b) => a + b, 0);
  }

  #take(): { readonly entries: readonly LogEntry[]; readonly events: readonly EventRow[] } {
    const taken = { entries: this.#entries, events: this.#events };
    this.#entries = [];
    this.#events = [];
    return taken;
  }
}

/** Distributes entries and events over as few rows as possible. */
export function toLogRows(
  entries: readonly object[],
  events: readonly EventRow[],
): readonly LogRow[] {
  const pieces = entries.length === 0 ? [] : splitText(JSON.stringify(entries));
  const last = pieces.at(-1) ?? "";
  const [first, ...others] = events;
  const isShared = first !== undefined && last.length + first.body.length <= MAX_ROW_CHARS;
  const rows: LogRow[] = pieces.map((state, index) => {
    const isLast = index === pieces.length - 1;
    return { state, isPartial: !isLast, events: isLast && isShared ? first : undefined };
  });
  if (first && (pieces.length === 0 || !isShared)) rows.push({ events: first });
  return [...rows, ...others.map((row) => ({ events: row }))];
}
