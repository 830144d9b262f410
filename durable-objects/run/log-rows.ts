import { packText, unpackText, type Dictionary, type PackedText } from "../packed-text.ts";

/** Texts that can be a dictionary. Unit: UTF-16 code units. */
const MIN_BASE_CHARS = 512;
const MAX_BASE_CHARS = 16 * 1024;
/**
 * Part of a text that is its dictionary, from its end. What is stored depends on it, so it never
 * changes. Unit: UTF-16 code units; the history of the compression holds 8 KiB.
 */
const DICTIONARY_CHARS = 7_500;
/** A row that takes more than this share of its text gets no help from the dictionary. */
const POOR_SHARE = 1 / 6;
/**
 * A shorter row, shorter than its dictionary too, keeps it even so: it would be a worse one for the
 * rows that follow. Unit: UTF-16 code units.
 */
const MINOR_CHARS = 3_072;
/**
 * A text that is so many times longer than its dictionary hardly ever takes less than that share.
 * It is compressed alone at once, because a trial costs as much as the compression that follows.
 */
const MUCH_LONGER = 1.5;

/** Events that share a row. */
export interface EventRow {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly epoch: number;
  /** JSON array of the events. */
  readonly body: string;
}

/** One row of the `log` table. */
export interface LogRow {
  readonly state?: string;
  readonly isPartial?: boolean;
  readonly events: EventRow | undefined;
}

type StoredRow = { state: PackedText | null; body: PackedText | null };

/** A row whose texts are the dictionary of later rows. */
interface Base {
  readonly seq: number;
  readonly dictionary: Uint8Array;
}

/**
 * Writes and reads the rows of a run's log, compressed. The steps of a run resemble each other, so
 * a row is compressed with an earlier row as its dictionary. Where that does not help, the row is
 * compressed alone, and is the dictionary of those that follow.
 * Ownership: one per log. Contract: `base` of a row is undefined, or a row that has none.
 */
export class LogRows {
  readonly #sql: SqlStorage;
  /** The dictionary of the next row; undefined in a new incarnation. */
  #newest: Base | undefined;
  #lastRead: Base | undefined;
  #mayHaveBase = true;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Appends a row; answers how many bytes its compression saved. */
  append(row: LogRow): number {
    const text = textOf(row);
    const base = this.#mayHaveBase && mayHelp(this.#newest, text) ? this.#newest : undefined;
    const packed = packRow(row, base?.dictionary);
    if (base && (isMinor(text, base) || text.length - packed.saved <= text.length * POOR_SHARE)) {
      this.#insert(row, packed, base.seq);
      return packed.saved;
    }
    const alone = base ? packRow(row) : packed;
    const seq = this.#insert(row, alone, null);
    const isBase = text.length >= MIN_BASE_CHARS && text.length <= MAX_BASE_CHARS;
    if (isBase) this.#newest = { seq, dictionary: toDictionary(text) };
    return alone.saved;
  }

  /** Reads a text of a row. */
  unpack(packed: PackedText, base: number | null): string {
    return unpackText(packed, base === null ? undefined : this.#dictionaryOf(base));
  }

  /** Deletes all rows. Rows that follow have no base: the deletion may be rolled back. */
  clear(): void {
    this.#sql.exec("DELETE FROM log WHERE seq > 0");
    this.#mayHaveBase = false;
  }

  #insert({ isPartial = false, events }: LogRow, packed: PackedRow, base: number | null): number {
    return this.#sql
      .exec<{ seq: number }>(
        `INSERT INTO log (is_partial, first_seq, last_seq, epoch, state, body, saved, base)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
        isPartial ? 1 : 0,
        events?.firstSeq ?? null,
        events?.lastSeq ?? null,
        events?.epoch ?? null,
        packed.state,
        packed.body,
        packed.saved,
        base,
      )
      .one().seq;
  }

  #dictionaryOf(seq: number): Dictionary {
    if (this.#newest?.seq === seq) return this.#newest.dictionary;
    if (this.#lastRead?.seq === seq) return this.#lastRead.dictionary;
    const { state, body } = this.#sql
      .exec<StoredRow>("SELECT state, body FROM log WHERE seq = ?", seq)
      .one();
    const text = [state, body]
      .map((packed) => (packed === null ? "" : unpackText(packed)))
      .join("");
    this.#lastRead = { seq, dictionary: toDictionary(text) };
    return this.#lastRead.dictionary;
  }
}

interface PackedRow extends StoredRow {
  readonly saved: number;
}

function packRow({ state, events }: LogRow, dictionary?: Dictionary): PackedRow {
  const [one, other] = [state, events?.body].map((text) =>
    text === undefined ? { packed: null, saved: 0 } : packText(text, dictionary),
  );
  const saved = (one?.saved ?? 0) + (other?.saved ?? 0);
  return { state: one?.packed ?? null, body: other?.packed ?? null, saved };
}

function mayHelp(base: Base | undefined, { length }: string): boolean {
  return base !== undefined && length < base.dictionary.length * MUCH_LONGER;
}

function isMinor({ length }: string, { dictionary }: Base): boolean {
  return length < MINOR_CHARS && length < dictionary.length;
}

export function textOf({ state = "", events }: LogRow): string {
  return `${state}${events?.body ?? ""}`;
}

function toDictionary(text: string): Uint8Array {
  return new TextEncoder().encode(text.slice(-DICTIONARY_CHARS));
}
