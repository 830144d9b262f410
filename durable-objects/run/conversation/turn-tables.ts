import type {
  StoredTurns,
  Turn,
  TurnFacts,
  TurnSummary,
} from "../../../src/conversation/stored-turns.ts";
import type { Feedback } from "../../../src/protocol/conversation/feedback.ts";
import type { TranscriptMessage } from "../../../src/protocol/conversation/message.ts";
import type { TurnPage } from "../../../src/protocol/conversation/turn.ts";
import { hashNow } from "../../hash-now.ts";
import { packText, splitText, unpackText, type PackedText } from "../../packed-text.ts";
import { KeptMessages, type KeptTurn } from "./kept-messages.ts";
import { KnownTurns } from "./known-turns.ts";
import { toTurn, type TurnRow } from "./turn-row.ts";
import { PARTS_OF_PAGE, type RunTables } from "../run-tables.ts";

/** Most posts continue the newest turn. */
const READ_AT_ONCE = 8;
/** A model is shown many turns. */
const READ_OF_PATH = 64;

/**
 * The turns of a conversation in the object of its first run, and their pages, compressed.
 * Ownership: one per run object; the only writer of the tables `turns` and `pages`.
 */
export class TurnTables implements StoredTurns {
  readonly #sql: SqlStorage;
  readonly #tables: () => RunTables;

  readonly #kept = new KeptMessages();
  readonly #known = new KnownTurns();

  /** `tables` answers those of the run at that moment: they are read anew when the run shrinks. */
  constructor(sql: SqlStorage, tables: () => RunTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  get exist(): boolean {
    return this.#tables().has("turns");
  }

  get next(): number {
    const [newest] = this.newest();
    return (newest?.number ?? 0) + 1;
  }

  at(number: number): Turn {
    const turn = this.find(number);
    if (!turn) throw new Error("the conversation has no such turn");
    return turn;
  }

  find(number: number): Turn | undefined {
    const known = this.#known.find(number);
    if (known) return known;
    return this.#sql
      .exec<TurnRow>("SELECT * FROM turns WHERE number = ?", number)
      .toArray()
      .map((row) => this.#known.keep(toTurn(row)))[0];
  }

  of(runId: string): Turn | undefined {
    return this.#sql
      .exec<TurnRow>("SELECT * FROM turns WHERE run_id = ? ORDER BY number DESC LIMIT 1", runId)
      .toArray()
      .map(toTurn)[0];
  }

  *path(from: Turn): Generator<Turn> {
    yield from;
    for (let next = from.parent; next !== null;) {
      const known = this.#known.find(next);
      const turns: readonly Turn[] = known ? [known] : this.#readPath(next);
      yield* turns;
      next = turns.at(-1)?.parent ?? null;
    }
  }

  #readPath(from: number): readonly Turn[] {
    return this.#sql
      .exec<TurnRow>(
        `WITH RECURSIVE path (number, parent) AS (
           SELECT number, parent FROM turns WHERE number = ?1
           UNION ALL
           SELECT turns.number, turns.parent FROM turns, path WHERE turns.number = path.parent
           LIMIT ${READ_OF_PATH}
         ) SELECT turns.* FROM path JOIN turns USING (number) ORDER BY turns.number DESC`,
        from,
      )
      .toArray()
      .map((row) => this.#known.keep(toTurn(row)));
  }

  newest(): Generator<Turn> {
    return this.#read(Number.MAX_SAFE_INTEGER, "number < ? ORDER BY number DESC");
  }

  oldest(after: number): Generator<Turn> {
    return this.#read(after, "number > ? ORDER BY number");
  }

  *#read(from: number, rest: string): Generator<Turn> {
    for (let last: number | undefined = from; last !== undefined;) {
      const rows: readonly TurnRow[] = this.#sql
        .exec<TurnRow>(`SELECT * FROM turns WHERE ${rest} LIMIT ${READ_AT_ONCE}`, last)
        .toArray();
      yield* rows.map(toTurn);
      last = rows.length < READ_AT_ONCE ? undefined : rows.at(-1)?.number;
    }
  }

  withMessage(messageId: string): readonly Turn[] {
    return this.#sql
      .exec<TurnRow>("SELECT * FROM turns WHERE message_id = ? ORDER BY number DESC", messageId)
      .toArray()
      .map(toTurn);
  }

  add(turn: Turn): void {
    const tables = this.#tables();
    tables.create("turns");
    tables.create("pages");
    this.#sql.exec(
      `INSERT INTO turns (number, run_id, parent, root, depth, message_id, hash, key_run_id, owner,
         others, opened_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      turn.number,
      turn.runId,
      turn.parent,
      turn.root,
      turn.depth,
      turn.messageId,
      turn.messageId === null ? null : turn.hash,
      turn.keyRunId ?? null,
      JSON.stringify(turn.owner),
      JSON.stringify(turn.others),
      turn.openedMs,
    );
  }

  end(number: number, page: TurnPage, known: TurnFacts): void {
    this.#forget(number);
    const { messages, ...rest } = page;
    const text = [messages, rest].map((part) => JSON.stringify(part)).join(SEPARATOR);
    for (const [part, piece] of splitText(text).entries()) {
      this.#sql.exec(
        "INSERT INTO pages (place, body) VALUES (?, ?)",
        number * PARTS_OF_PAGE + part,
        packText(piece).packed,
      );
    }
    this.#sql.exec(
      `UPDATE turns SET ended_ms = ?, page_hash = ?, bytes = ?, short_bytes = ?, labels = ?,
         title = ?, said_keys = ?
       WHERE number = ?`,
      page.endedMs,
      hashNow(text),
      known.bytes,
      known.shortBytes,
      JSON.stringify(known.labels),
      page.shown.title ?? null,
      page.saidKeys ? JSON.stringify(page.saidKeys) : null,
      number,
    );
  }

  rate(number: number, feedback: Feedback | null): void {
    this.#known.forget(number);
    const text = feedback && JSON.stringify(feedback);
    this.#sql.exec("UPDATE turns SET feedback = ? WHERE number = ?", text, number);
  }

  summarise(number: number, summary: TurnSummary, text?: string): void {
    this.#known.forget(number);
    const known = JSON.stringify(summary);
    this.#sql.exec("UPDATE turns SET summary = ? WHERE number = ?", known, number);
    if (text === undefined) return;
    this.#sql.exec(
      "INSERT INTO pages (place, body) VALUES (?, ?)",
      placeOfSummary(number),
      packText(text).packed,
    );
  }

  summary(number: number): string {
    const { body } = this.#sql
      .exec<{ body: PackedText }>("SELECT body FROM pages WHERE place = ?", placeOfSummary(number))
      .one();
    return unpackText(body);
  }

  remove(number: number): void {
    this.#forget(number);
    const place = number * PARTS_OF_PAGE;
    const next = place + PARTS_OF_PAGE;
    this.#sql.exec("DELETE FROM pages WHERE place >= ? AND place < ?", place, next);
    this.#sql.exec("DELETE FROM turns WHERE number = ?", number);
  }

  #forget(number: number): void {
    this.#kept.forget(number);
    this.#known.forget(number);
  }

  page(number: number): TurnPage {
    const [messages = "", rest = ""] = this.#texts([number]).get(number) ?? [];
    return { ...JSON.parse(rest), messages: JSON.parse(messages) } as TurnPage;
  }

  messages(numbers: readonly number[]): readonly (readonly TranscriptMessage[])[] {
    const texts = this.#texts(numbers.filter((number) => !this.#kept.find(number)));
    const turns = numbers.map((number): KeptTurn => {
      const known = this.#kept.find(number);
      if (known) return known;
      const [text = ""] = texts.get(number) ?? [];
      const messages = JSON.parse(text) as readonly TranscriptMessage[];
      return { number, messages, chars: text.length };
    });
    this.#kept.keep(turns);
    return turns.map(({ messages }) => messages);
  }

  /** Reads of each turn its messages, and the rest of its page. */
  #texts(numbers: readonly number[]): ReadonlyMap<number, readonly string[]> {
    const texts = new Map<number, string>();
    const rows = this.#sql.exec<{ number: number; body: PackedText }>(
      `SELECT number, body FROM json_each(?) AS named JOIN pages
       ON place >= named.value * ${PARTS_OF_PAGE}
         AND place < (named.value + 1) * ${PARTS_OF_PAGE} - 1
       ORDER BY place`,
      JSON.stringify(numbers),
    );
    for (const { number, body } of rows) {
      texts.set(number, (texts.get(number) ?? "") + unpackText(body));
    }
    return new Map([...texts].map(([number, text]) => [number, text.split(SEPARATOR)]));
  }
}

function placeOfSummary(number: number): number {
  return (number + 1) * PARTS_OF_PAGE - 1;
}

/** Stands in no JSON text. */
const SEPARATOR = "\n";
