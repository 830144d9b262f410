import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import {
  migrateStorage,
  writeVersion,
  type Layout,
  type Migration,
} from "../../durable-objects/storage-version.ts";
import { createDurableDatabase } from "../../durable-objects/workspace/durable-database.ts";
import { createTables, migrateTables } from "../../src/workspace/open-tables.ts";
import { unreadableStorageOf } from "../../src/protocol/outcome/unreadable-storage.ts";
import type { TenantId } from "../../src/protocol/identity/ids.ts";
import { APPROVE, askToPay, callOf, decide, ended, useApprovalLab } from "../shared/people.ts";
import { setVersion, tablesOf } from "../shared/planted-storage.ts";
import { ringAlarm, rowsOf, stubOf, tellOutcome } from "../shared/run-object.ts";
import { bindings, chat, postChat, send } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";
import { effects } from "../workers/lab-tools.ts";
import { labWorkspace } from "../workers/lab-workspaces.ts";

useApprovalLab();

/** Made-up layouts: the second migration of the newer code fails on a row "bad". */
const addSize: Migration = (sql) =>
  void sql.exec("ALTER TABLE boxes ADD COLUMN size INTEGER NOT NULL DEFAULT 1");
const forbidBad: Migration = (sql) => {
  const bad = sql.exec("SELECT 1 FROM boxes WHERE name = 'bad'").toArray();
  if (bad.length > 0) throw new Error("a bad box");
  sql.exec("UPDATE boxes SET size = size + 1");
};
const THIRD: Layout = { oldest: 3, migrations: [] };
const FIFTH: Layout = { oldest: 3, migrations: [addSize, forbidBad] };

let objects = 0;

/** Works on the storage of a new object. */
function withStorage(work: (storage: DurableObjectStorage) => void): Promise<void> {
  return runInDurableObject(stubOf(`boxes-${objects++}`), (_object, { storage }) => work(storage));
}

/** Creates the made-up tables of version 3, and says that they have another. */
function createBoxes({ sql }: DurableObjectStorage, version?: number, name = "one"): void {
  sql.exec("CREATE TABLE boxes (name TEXT); INSERT INTO boxes VALUES (?)", name);
  if (version !== undefined) writeVersion(sql, version);
}

/** Code and message of the refusal that `work` throws. */
function refusalOf(work: () => unknown): readonly [unknown, string] {
  try {
    work();
  } catch (error) {
    return [unreadableStorageOf(error), String(error)];
  }
  return [undefined, "nothing was thrown"];
}

const boxesOf = ({ sql }: DurableObjectStorage): unknown => [
  sql.exec("SELECT * FROM boxes").toArray(),
  sql.exec("SELECT sql FROM sqlite_master WHERE name = 'schema_version'").toArray(),
];

describe("the storage of an object", () => {
  test.each([
    [3, { name: "one", size: 2 }],
    [4, undefined],
    [5, { name: "one" }],
  ])("of version %i gets the migrations that it lacks, once", (stored, row) =>
    withStorage((storage) => {
      createBoxes(storage, stored);
      // Only the second migration runs from version 4 on, and it needs the column of the first.
      if (row === undefined) return expect(() => migrateStorage(storage, FIFTH)).toThrow("size");
      for (const again of [false, true]) {
        expect([again, migrateStorage(storage, FIFTH)]).toEqual([again, true]);
        expect(storage.sql.exec("SELECT * FROM boxes").toArray()).toEqual([row]);
      }
      expect(storage.sql.exec("SELECT version FROM schema_version").one()).toEqual({ version: 5 });
    }),
  );

  test("keeps everything when one of its migrations fails", () =>
    withStorage((storage) => {
      createBoxes(storage, 3, "bad");
      const before = boxesOf(storage);
      expect(() => migrateStorage(storage, FIFTH)).toThrow("a bad box");
      expect(boxesOf(storage)).toEqual(before);
    }));

  test.each([
    [6, FIFTH, "storage_too_new", "Deploy the newer code again"],
    [4, THIRD, "storage_too_new", "Deploy the newer code again"],
    [2, FIFTH, "storage_too_old", "begin with empty storage"],
    [undefined, THIRD, "storage_too_old", "begin with empty storage"],
  ])("of version %s is refused by code that cannot read it", (stored, layout, code, advice) =>
    withStorage((storage) => {
      createBoxes(storage, stored);
      const before = boxesOf(storage);
      expect(refusalOf(() => migrateStorage(storage, layout))).toEqual([
        code,
        expect.stringContaining(advice),
      ]);
      expect(boxesOf(storage)).toEqual(before);
    }),
  );

  test("without tables is unused, and stays so", () =>
    withStorage((storage) => {
      expect(migrateStorage(storage, FIFTH)).toBe(false);
      expect(
        storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name LIKE 's%'").toArray(),
      ).toEqual([]);
    }));
});

const VERSIONS = [
  ["newer", 99, "storage_too_new", "30"],
  ["older", 1, "storage_too_old", null],
] as const;

describe.each(VERSIONS)("storage of a much %s version", (_word, version, code, retryAfter) => {
  test("of a run is neither read nor written, and works again with the code that reads it", async () => {
    const { runId, approvalId } = await askToPay();
    const [own] = await rowsOf(runId, "SELECT version FROM schema_version");
    await setVersion(bindings.RUNS, runId, version);
    const before = await tablesOf(bindings.RUNS, runId);
    const post = (path: string, body: string): Promise<Response> =>
      send(`/v1/runs/${runId}/${path}`, {
        caller: "ann",
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
    const refused = await Promise.all([
      send(`/v1/runs/${runId}`, { caller: "ann" }),
      send(`/v1/runs/${runId}/events`, { caller: "ann" }),
      send(`/v1/runs/${runId}/cancel`, { caller: "ann", method: "POST" }),
      decide(approvalId, "cat", APPROVE),
      tellOutcome(runId, { body: { outcome: "committed" }, caller: "chief" }),
      tellOutcome(runId, { body: { outcome: "reviewed" }, caller: "chief" }),
      postChat({ messages: [{ role: "user", content: "go on" }], previousRunId: runId }, "ann"),
      post("messages", '{"content":"hello"}'),
      post("invocations/inv_1/compensate", "{}"),
    ]);
    for (const response of refused) {
      const answer = await response.json<{ code: string }>();
      const retry = response.headers.get("retry-after");
      expect([response.status, answer.code, retry]).toEqual([503, code, retryAfter]);
    }
    await ringAlarm(runId);
    expect(await tablesOf(bindings.RUNS, runId)).toEqual(before);
    const alarm = await runInDurableObject(stubOf(runId), (_object, { storage }) =>
      storage.getAlarm(),
    );
    expect(alarm).toBeGreaterThan(Date.now());
    expect(moved).toEqual([]);
    await setVersion(bindings.RUNS, runId, Number(own?.["version"]));
    for (const approver of ["bob", "cat"] as const) await decide(approvalId, approver, APPROVE);
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("of a tenant is neither read nor written, so lists answer 503 and runs dispatch nothing", async () => {
    const tenant = bindings.TENANTS.get(bindings.TENANTS.idFromName("guild"));
    const own = await runInDurableObject(tenant, (_object, { storage }) =>
      storage.sql.exec<{ version: number }>("SELECT version FROM schema_version").one(),
    );
    await setVersion(bindings.TENANTS, "guild", version);
    const before = await tablesOf(bindings.TENANTS, "guild");
    for (const path of ["/v1/runs", "/v1/approvals", "/v1/audit", "/v1/policy"]) {
      const response = await send(path, { caller: "chief" });
      const answer = await response.json<{ code: string }>();
      expect([path, response.status, answer.code]).toEqual([path, 503, code]);
    }
    await (await chat([{ calls: [callOf("lab__write_note", { text: "not now" })] }], "ann")).text();
    expect(effects).not.toContain("note: not now");
    expect(await tablesOf(bindings.TENANTS, "guild")).toEqual(before);
    await setVersion(bindings.TENANTS, "guild", own.version);
    expect((await send("/v1/runs", { caller: "chief" })).status).toBe(200);
  });
});

test.each([
  [99, "storage_too_new"],
  [0, "storage_too_old"],
])("a workspace of layout %i is refused by code that cannot read it", (layout, code) =>
  withStorage((storage) => {
    const database = createDurableDatabase(storage);
    const tenantId = "studio" as TenantId;
    createTables(database, labWorkspace, { name: "lab", tenantId, workspaceId: "studio" });
    storage.sql.exec("UPDATE interlock_workspace SET layout = ?", layout);
    expect(refusalOf(() => migrateTables(database, labWorkspace))[0]).toBe(code);
  }),
);
