import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { EventRow } from "./log-rows.ts";
import { toLogRows } from "./run-log.ts";

type Row = Record<string, SqlStorageValue>;

const LATE_TABLES = ["approvals", "inbox", "refusals", "prompt"];
/** Columns of the row that the log replaces. */
const PROGRESS = new Set(["steps", "usage", "facts", "title", "reason", "error", "ended_ms"]);

/** Creates the row of a run and its log, as version 4 had them. */
function createRunAndLog(sql: SqlStorage): void {
  sql.exec(
    `CREATE TABLE run (
       id INTEGER PRIMARY KEY CHECK (id = 1), run_id TEXT NOT NULL, model TEXT NOT NULL,
       request_hash TEXT, owner TEXT NOT NULL, claim TEXT, claimed_messages INTEGER NOT NULL,
       created_ms INTEGER NOT NULL, epoch INTEGER NOT NULL, recoveries INTEGER NOT NULL,
       recovered_step INTEGER NOT NULL, stop TEXT, is_waiting INTEGER NOT NULL,
       tables TEXT NOT NULL
     );
     CREATE TABLE log (
       seq INTEGER PRIMARY KEY, is_partial INTEGER NOT NULL, first_seq INTEGER, last_seq INTEGER,
       epoch INTEGER, state TEXT, body TEXT
     );`,
  );
}

/**
 * Version 4 has one log instead of the tables of messages, invocations, events and the outbox. The
 * row of the run names the other tables, and leaves the progress to the log.
 */
export function mergeIntoLog(sql: SqlStorage): void {
  const rowsOf = (query: string): readonly Row[] => sql.exec<Row>(query).toArray();
  const found = rowsOf("SELECT name FROM sqlite_master WHERE type = 'table'");
  const tables = new Set(found.map(({ name }) => name));
  const [run = {}] = rowsOf("SELECT * FROM run");
  const messages = readMessages(rowsOf("SELECT body, part FROM messages ORDER BY seq, part"));
  const invocations = rowsOf("SELECT * FROM invocations ORDER BY seq").map(toInvocation);
  const events = rowsOf("SELECT * FROM events ORDER BY first_seq");
  const outbox = rowsOf("SELECT * FROM outbox ORDER BY seq").map(toDelivery);
  const [{ seq = 0 } = {}] = rowsOf("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'");
  sql.exec(
    "DROP TABLE run; DROP TABLE messages; DROP TABLE invocations; DROP TABLE events; DROP TABLE outbox;",
  );
  createRunAndLog(sql);
  const names = LATE_TABLES.filter((name) => tables.has(name));
  const kept = Object.entries(run).filter(([column]) => !PROGRESS.has(column));
  const named: Row = { ...Object.fromEntries(kept), tables: names.join(" ") };
  const columns = Object.keys(named);
  const places = columns.map(() => "?").join(", ");
  sql.exec(`INSERT INTO run (${columns.join(", ")}) VALUES (${places})`, ...Object.values(named));
  const lastNumber = { kind: "delivered", what: "publication", seq };
  const entries = [...messages, ...invocations, toProgress(run), lastNumber, ...outbox];
  // An entry may fill a row, so each of them gets one.
  for (const entry of entries) appendToLog(sql, [entry], []);
  for (const { first_seq: firstSeq, last_seq: lastSeq, epoch, body } of events) {
    const row = { firstSeq: Number(firstSeq), lastSeq: Number(lastSeq), epoch: Number(epoch) };
    appendToLog(sql, [], [{ ...row, body: textOf(body) }]);
  }
}

function appendToLog(sql: SqlStorage, entries: readonly object[], rows: readonly EventRow[]): void {
  for (const { state, isPartial = false, events } of toLogRows(entries, rows)) {
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
}

/** A message longer than a row has several rows. */
function readMessages(rows: readonly Row[]): readonly object[] {
  const texts: string[] = [];
  for (const { part, body } of rows) {
    if (part === 0) texts.push(textOf(body));
    else texts.push(`${texts.pop() ?? ""}${textOf(body)}`);
  }
  return texts.map((text) => ({ kind: "message", message: parse(text) }));
}

function toInvocation(row: Row): object {
  const [binding, shownArgs] = [parse(row["binding"]), parse(row["args"])];
  const number = row["seq"];
  const changed = {
    number,
    toolCallId: row["tool_call_id"],
    step: row["step"],
    part: row["part"],
    name: row["name"],
    argumentsText: parse(row["arguments_text"]),
    truncated: row["truncated"] === 1,
    state: row["state"],
    dispatches: row["dispatches"],
    binding: binding && { ...(binding as JsonObject), shownArgs },
    amounts: parse(row["amounts"]),
    awaitedUntilMs: row["awaited_until_ms"] ?? undefined,
    settlement: parse(row["settlement"]),
    askedAtMs: row["asked_ms"],
    end: parse(row["ending"]),
  };
  return { kind: "invocation", number, changed };
}

function toProgress(run: Row): object {
  // A run that has shrunk has no facts.
  const { turn, held, ...facts } = (parse(run["facts"]) ?? {}) as JsonObject;
  const changed = {
    steps: run["steps"],
    usage: parse(run["usage"]),
    facts: { modelCalls: 0, ...facts, answer: turn, reservation: held },
    title: run["title"],
    reason: run["reason"],
    error: parse(run["error"]) ?? null,
    endedMs: run["ended_ms"],
  };
  return { kind: "progress", changed };
}

function toDelivery({ seq, kind, number, body }: Row): object {
  if (kind === "notice") return { kind, seq, notice: parse(body) };
  return { kind: "publication", seq, invocation: kind === "run" ? null : number };
}

function textOf(value: SqlStorageValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function parse(text: SqlStorageValue | undefined): unknown {
  return typeof text === "string" ? (JSON.parse(text) as unknown) : undefined;
}
