import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { DeadlineSet, RunDeadline } from "../../durable-objects/deadlines.ts";
import { writeVersion } from "../../durable-objects/storage-version.ts";
import { APPROVE, askToPay, callOf, decide, ended, useApprovalLab } from "../shared/people.ts";
import { restart } from "../shared/planted-storage.ts";
import { deadlinesOf, rowsOf, stubOf, uncompress } from "../shared/run-object.ts";
import { bindings, chat, runIdOf, send } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";

useApprovalLab();

/** Puts the deadlines of a run into a table, and what was delivered into its log. */
function putDeadlinesApart(sql: SqlStorage): void {
  const [row] = sql
    .exec<{ deadlines: string; seq: number }>("SELECT deadlines, delivered_seq AS seq FROM run")
    .toArray();
  sql.exec(
    "CREATE TABLE deadlines (name TEXT PRIMARY KEY, at_ms INTEGER, left_ms INTEGER) WITHOUT ROWID",
  );
  const all = JSON.parse(row?.deadlines ?? "{}") as DeadlineSet<RunDeadline>;
  for (const [name, deadline] of Object.entries(all)) {
    const [atMs, leftMs] = "atMs" in deadline ? [deadline.atMs, null] : [null, deadline.leftMs];
    sql.exec("INSERT INTO deadlines VALUES (?, ?, ?)", name, atMs, leftMs);
  }
  const delivered = JSON.stringify([{ kind: "delivered", what: "notices", seq: row?.seq ?? 0 }]);
  sql.exec("INSERT INTO log (is_partial, state) VALUES (0, ?)", delivered);
  sql.exec("ALTER TABLE run DROP COLUMN deadlines; ALTER TABLE run DROP COLUMN delivered_seq;");
}

/** Turns the storage of a run into that of version 4: plain text, and a table of the version. */
async function turnBack(runId: string): Promise<void> {
  await runInDurableObject(stubOf(runId), (_object, { storage }) => {
    const { sql } = storage;
    uncompress(sql);
    putDeadlinesApart(sql);
    sql.exec(
      "ALTER TABLE log DROP COLUMN saved; ALTER TABLE log DROP COLUMN base; DROP VIEW schema_version;",
    );
    writeVersion(sql, 4);
    return storage.sync();
  });
  await restart(bindings.RUNS, runId);
}

const eventsOf = async (runId: string): Promise<string> =>
  (await send(`/v1/runs/${runId}/events`, { caller: "ann" })).text();

test("a finished run of version 4 replays byte for byte", async () => {
  const calls = [callOf("core__calculate", { expression: "6 * 7" })];
  const response = await chat([{ calls }, { text: ["forty-two"] }], "ann");
  const runId = runIdOf(response);
  await response.text();
  const stream = await eventsOf(runId);
  await turnBack(runId);
  expect(await eventsOf(runId)).toBe(stream);
  expect(await rowsOf(runId, "SELECT version FROM schema_version")).toEqual([{ version: 6 }]);
});

test("a waiting run of version 4 goes on, and compresses what it adds", async () => {
  const { runId, approvalId } = await askToPay();
  const before = await deadlinesOf(runId);
  await turnBack(runId);
  expect(await deadlinesOf(runId)).toEqual(before);
  expect(before).toMatchObject({ wall_clock: null, approval: expect.any(Number) as number });
  await decide(approvalId, "bob", APPROVE);
  await decide(approvalId, "cat", APPROVE);
  await ended(runId);
  expect(moved).toEqual(["40 to bakery"]);
  const [sum] = await rowsOf(runId, "SELECT sum(saved) > 0 AS isSmaller FROM log");
  expect(sum).toEqual({ isSmaller: 1 });
  expect(await eventsOf(runId)).toContain("done");
});
