import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import type { PageAnswer } from "../../src/capabilities/conversation.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import { type Viewer, viewerOf } from "../../src/protocol/identity/viewer.ts";
import type { PackedText } from "../../durable-objects/packed-text.ts";
import type { Deadline, DeadlineSet, RunDeadline } from "../../durable-objects/deadlines.ts";
import { LogRows } from "../../durable-objects/run/log-rows.ts";
import { TOKENS } from "./tokens.ts";
import { bindings, send, stateOf, type Caller } from "./worker.ts";

/** Returns a new stub of a run's object, because a stub of an aborted object stays broken. */
export function stubOf(runId: string): DurableObjectStub {
  return bindings.RUNS.get(bindings.RUNS.idFromName(runId));
}

/** Returns a caller as a run's object sees it. */
export function viewerAs(caller: Caller): Viewer {
  const { tenantId, scopes } = TOKENS[caller];
  return viewerOf({
    tenantId: tenantId as TenantId,
    actorId: `user:${caller}` as ActorId,
    scopes,
    roles: [],
  });
}

/** Reads what an ended run adds to its conversation, as the provider got it. */
export async function transcriptOf(
  runId: string,
  caller: Caller,
): Promise<readonly TranscriptMessage[]> {
  const stub = stubOf(runId) as unknown as { page(viewer: Viewer): Promise<PageAnswer> };
  const answer = await stub.page(viewerAs(caller));
  if (answer.kind !== "page") throw new Error(`page: ${answer.kind}`);
  return answer.delivered.page.messages;
}

/** Crashes a run's object at once. Uncommitted writes are lost. */
export async function crash(runId: string): Promise<void> {
  await runInDurableObject(stubOf(runId), (_object, state) => state.abort("crash")).catch(() => {});
}

/** Runs a statement on the storage of a run. A query may read what the log holds as tables. */
export function rowsOf(
  runId: string,
  sql: string,
): Promise<readonly Record<string, SqlStorageValue>[]> {
  return runInDurableObject(stubOf(runId), (_object, state) => readLogged(state.storage.sql, sql));
}

/** Changes what a conversation stores, and ends the incarnation that keeps turns in memory. */
export async function changeTurns(conversationId: string, ...statements: string[]): Promise<void> {
  for (const sql of statements) await rowsOf(conversationId, sql);
  await crash(conversationId);
}

/** A page that is not delivered, or not stored: statements for `changeTurns`. */
export const LOSE_PAGE_2 = [
  "DELETE FROM pages WHERE number = 2",
  "UPDATE turns SET ended_ms = NULL WHERE number = 2",
] as const;

/** Reads the rows of a log with their texts. */
export function readLog(sql: SqlStorage): readonly LogTexts[] {
  const rows = new LogRows(sql);
  return sql
    .exec<PackedRow>("SELECT * FROM log WHERE seq > 0 ORDER BY seq")
    .toArray()
    .map((row) => {
      const read = (packed: PackedText | null): string | null =>
        packed === null ? null : rows.unpack(packed, row.base);
      const { seq, first_seq, last_seq, epoch } = row;
      return { seq, first_seq, last_seq, epoch, state: read(row.state), body: read(row.body) };
    });
}

type Place = {
  seq: number;
  first_seq: number | null;
  last_seq: number | null;
  epoch: number | null;
};
type PackedRow = Place & {
  base: number | null;
  state: PackedText | null;
  body: PackedText | null;
};
type LogTexts = Place & { state: string | null; body: string | null };

/**
 * Runs a query that may read the row of the run, and the messages, events, invocations, refusals
 * and progress of a log as tables.
 */
export function readLogged<Row extends Record<string, SqlStorageValue>>(
  sql: SqlStorage,
  query: string,
): Row[] {
  if (!/^SELECT\b.*\b(?:run|messages|events|invocations|refusals|progress)\b/s.test(query)) {
    return sql.exec<Row>(query).toArray();
  }
  return sql.exec<Row>(withLogged(query), JSON.stringify(readLog(sql))).toArray();
}

function withLogged(query: string): string {
  const column = (name: string): string => `json_extract(value, '$.${name}') AS ${name}`;
  const columns = ["seq", "first_seq", "last_seq", "epoch", "state", "body"].map(column).join(", ");
  return `WITH run AS (SELECT *, run_epoch AS epoch FROM main.log WHERE seq = 0),
    log AS (SELECT ${columns} FROM json_each(?)), entries AS (
      SELECT log.seq AS at, item.key AS place, item.value AS entry,
        json_extract(item.value, '$.kind') AS kind
      FROM log, json_each(log.state) AS item WHERE log.state IS NOT NULL
    ), messages AS (
      SELECT row_number() OVER (ORDER BY at, place) AS seq, json_extract(entry, '$.message') AS body
      FROM entries WHERE kind = 'message'
    ), events AS (
      SELECT first_seq, last_seq, epoch, body FROM log WHERE body IS NOT NULL
    ), invocations AS (
      SELECT json_extract(entry, '$.number') AS seq,
        ${newest("invocation", "argumentsText")} AS arguments_text,
        ${newest("invocation", "binding")} AS binding,
        ${newest("invocation", "binding.shownArgs")} AS args,
        ${newest("invocation", "end")} AS ending
      FROM entries AS one WHERE kind = 'invocation' GROUP BY json_extract(entry, '$.number')
    ), refusals AS (
      SELECT json_extract(entry, '$.of') AS kind, json_extract(entry, '$.fullChars') AS full_chars
      FROM entries WHERE kind = 'refused'
    ), progress AS (
      SELECT ${newest("progress", "reason")} AS reason, ${newest("progress", "error")} AS error,
        ${newest("progress", "facts")} AS facts
      FROM entries AS one LIMIT 1
    ) ${query}`;
}

/** Selects the newest value of a field. */
function newest(kind: "invocation" | "progress", field: string): string {
  const isSame = "json_extract(entry, '$.number') IS json_extract(one.entry, '$.number')";
  return `(SELECT json_extract(entry, '$.changed.${field}') FROM entries
    WHERE kind = '${kind}' ${kind === "invocation" ? `AND ${isSame}` : ""}
      AND json_extract(entry, '$.changed.${field}') IS NOT NULL
    ORDER BY at DESC, place DESC LIMIT 1)`;
}

/** Changes the stored record of an invocation, and crashes the object, which holds another one. */
export async function changeInvocation(
  runId: string,
  number: number,
  changed: object,
): Promise<void> {
  await runInDurableObject(stubOf(runId), (_object, { storage }) => {
    const state = JSON.stringify([{ kind: "invocation", number, changed }]);
    storage.sql.exec("INSERT INTO log (is_partial, state) VALUES (0, ?)", state);
    return storage.sync();
  });
  await crash(runId);
}

/** Returns the times of the deadlines by name; null for a paused one. */
export async function deadlinesOf(runId: string): Promise<Readonly<Record<string, unknown>>> {
  const [row] = await rowsOf(runId, "SELECT deadlines FROM run");
  const { deadlines = "{}" } = (row ?? {}) as { readonly deadlines?: string };
  const stored = JSON.parse(deadlines) as DeadlineSet<RunDeadline>;
  return Object.fromEntries(
    Object.entries(stored).map(([name, deadline]) => [
      name,
      "atMs" in deadline ? deadline.atMs : null,
    ]),
  );
}

/** Changes a stored deadline, when it is set. */
export async function changeDeadline(
  runId: string,
  name: RunDeadline,
  deadline: Deadline = { atMs: 1 },
): Promise<void> {
  const value = JSON.stringify(deadline);
  await rowsOf(
    runId,
    `UPDATE log SET deadlines = json_replace(deadlines, '$.${name}', json('${value}'))`,
  );
}

/** Makes a deadline due, and fires the object's alarm. */
export async function ring(runId: string, name: RunDeadline): Promise<void> {
  if (name === "retention" || name === "forget") {
    // An ended run sets these after its last byte has left.
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty(name);
  }
  const { [name]: atMs } = await deadlinesOf(runId);
  if (atMs !== null) await changeDeadline(runId, name);
  await ringAlarm(runId);
}

/** Fires the alarm before its time. */
export async function ringAlarm(runId: string): Promise<void> {
  await runInDurableObject(stubOf(runId), (_object, state) =>
    state.storage.setAlarm(Date.now() + 3_600_000),
  );
  await runDurableObjectAlarm(stubOf(runId)).catch(() => {});
}

/** Waits until a run's state matches. */
export async function untilState(
  runId: string,
  expected: object,
  caller: Caller = "lab",
): Promise<RunState> {
  await expect.poll(() => stateOf(runId, caller)).toMatchObject(expected);
  return stateOf(runId, caller);
}

/** Resolves the unknown outcome of an invocation. */
export function tellOutcome(
  runId: string,
  { invocation = "inv_1", body = {}, caller = "lab" }: Told,
): Promise<Response> {
  return send(`/v1/runs/${runId}/invocations/${invocation}/outcome`, {
    caller,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

interface Told {
  readonly invocation?: string;
  readonly body?: unknown;
  readonly caller?: Caller;
}

export function cancel(runId: string, caller: Caller = "lab"): Promise<Response> {
  return send(`/v1/runs/${runId}/cancel`, { caller, method: "POST" });
}

/** Returns status and problem code of a refusal. */
export async function refusalOf(response: Response): Promise<readonly [number, unknown]> {
  const { code } = await response.json<{ code?: unknown }>();
  return [response.status, code];
}
