import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import { isHighSurrogate } from "../../src/protocol/text/encoding.ts";

/**
 * Longest text of one row. Production refuses rows over 2 MB, the local platform does not.
 * Unit: UTF-16 code units of at most 3 bytes.
 */
const MAX_ROW_CHARS = 600_000;

/**
 * A run's conversation in SQLite.
 * Ownership: one per run object; the only writer of the `messages` table.
 */
export class StoredTranscript {
  readonly #sql: SqlStorage;
  #count: number;

  /** Contract: needs the tables of a claimed run. */
  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#count = sql
      .exec<{ count: number }>("SELECT coalesce(max(seq), 0) AS count FROM messages")
      .one().count;
  }

  /** Adds a message, in as many rows as its length needs. */
  add(message: TranscriptMessage): void {
    const seq = ++this.#count;
    for (const [part, body] of splitText(JSON.stringify(message)).entries()) {
      this.#sql.exec("INSERT INTO messages (seq, part, body) VALUES (?, ?, ?)", seq, part, body);
    }
  }

  /** Unit: bytes as stored. */
  bytes(): number {
    return this.#sql
      .exec<{ bytes: number }>("SELECT coalesce(sum(octet_length(body)), 0) AS bytes FROM messages")
      .one().bytes;
  }

  all(): readonly TranscriptMessage[] {
    const texts: string[] = [];
    const rows = this.#sql.exec<{ part: number; body: string }>(
      "SELECT part, body FROM messages ORDER BY seq, part",
    );
    for (const { part, body } of rows) {
      if (part === 0) texts.push(body);
      else texts.push(`${texts.pop() ?? ""}${body}`);
    }
    return texts.map((text) => JSON.parse(text) as TranscriptMessage);
  }
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
