import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import type { TenantNotice } from "../../src/protocol/run/tenant-notice.ts";
import { isHighSurrogate } from "../../src/protocol/text/encoding.ts";
import type { RunProgress } from "./run-progress.ts";

/**
 * Longest text of one row. Production refuses rows over 2 MB, the local platform does not.
 * Unit: UTF-16 code units of at most 3 bytes.
 */
const MAX_ROW_CHARS = 600_000;

/** What one entry of the log changes. Events are not entries: they have a column of their own. */
export type LogEntry =
  | { readonly kind: "message"; readonly message: TranscriptMessage }
  /** The fields of a record that changed; the first entry of a record has all of them. */
  | { readonly kind: "invocation"; readonly number: number; readonly changed: ChangedRecord }
  /** The fields of the progress that changed. */
  | { readonly kind: "progress"; readonly changed: Partial<RunProgress> }
  | { readonly kind: "notice"; readonly seq: number; readonly notice: TenantNotice }
  | { readonly kind: "publication"; readonly seq: number; readonly invocation: number | null }
  /** A publication was delivered, or every notice up to a number. */
  | { readonly kind: "delivered"; readonly what: "publication" | "notices"; readonly seq: number };

export type ChangedRecord = Partial<ToolInvocationRecord>;

/** Events that share a row. */
export interface EventRow {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly epoch: number;
  /** JSON array of the events. */
  readonly body: string;
}

/**
 * The append-only log of a run: what its loop does, one row for all that is stored together.
 * Ownership: one per run object; the only writer of the `log` table. Rows never change; the log is
 * emptied when the run shrinks.
 */
export class RunLog {
  readonly #sql: SqlStorage;
  #depth = 0;
  #entries: LogEntry[] = [];
  #events: EventRow[] = [];

  constructor(sql: SqlStorage) {
    this.#sql = sql;
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
  batch(work: () => void): void {
    this.#depth++;
    try {
      work();
    } catch (cause) {
      this.#take();
      throw cause;
    } finally {
      this.#depth--;
    }
    if (this.#depth === 0) this.#store();
  }

  /** Reads all entries, in order. */
  *entries(): Generator<LogEntry> {
    let text = "";
    const rows = this.#sql.exec<{ state: string; is_partial: number }>(
      "SELECT state, is_partial FROM log WHERE state IS NOT NULL ORDER BY seq",
    );
    for (const { state, is_partial: isPartial } of rows.toArray()) {
      text += state;
      if (isPartial === 1) continue;
      yield* JSON.parse(text) as readonly LogEntry[];
      text = "";
    }
  }

  #store(): void {
    const { entries, events } = this.#take();
    appendToLog(this.#sql, entries, events);
  }

  #take(): { readonly entries: readonly LogEntry[]; readonly events: readonly EventRow[] } {
    const taken = { entries: this.#entries, events: this.#events };
    this.#entries = [];
    this.#events = [];
    return taken;
  }
}

/** Appends rows to the `log` table. */
export function appendToLog(
  sql: SqlStorage,
  entries: readonly object[],
  events: readonly EventRow[],
): void {
  const pieces = entries.length === 0 ? [] : splitText(JSON.stringify(entries));
  const last = pieces.at(-1) ?? "";
  const [first, ...others] = events;
  const isShared = first !== undefined && last.length + first.body.length <= MAX_ROW_CHARS;
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1;
    insert(sql, {
      state: piece,
      isPartial: !isLast,
      events: isLast && isShared ? first : undefined,
    });
  }
  if (first && (pieces.length === 0 || !isShared)) insert(sql, { events: first });
  for (const row of others) insert(sql, { events: row });
}

interface LogRow {
  readonly state?: string;
  readonly isPartial?: boolean;
  readonly events: EventRow | undefined;
}

function insert(sql: SqlStorage, { state, isPartial = false, events }: LogRow): void {
  sql.exec(
    "INSERT INTO log (is_partial, first_seq, last_seq, epoch, state, body) VALUES (?, ?, ?, ?, ?, ?)",
    isPartial ? 1 : 0,
    events?.firstSeq ?? null,
    events?.lastSeq ?? null,
    events?.epoch ?? null,
    state ?? null,
    events?.body ?? null,
  );
}

/** Cuts text into pieces of one row each, never within a character. */
function splitText(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_ROW_CHARS, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
