import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { Deadlines } from "../../durable-objects/deadlines.ts";
import { DeadlineTable } from "../../durable-objects/tenant/deadline-table.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import {
  approvalNotice,
  auditNotice,
  runNotice,
  auditOf,
  tenantOf,
  tell,
  tenantRows,
} from "../shared/tenant-notices.ts";

const R1 = "run_1" as RunId;
/** Of a run that is forgotten, only the number of its last notice is left, for a day. */
const KEPT = "status <> 'forgotten'";

describe("retention", () => {
  const DAY = 86_400_000;
  const ago = (days: number): string => new Date(Date.now() - days * DAY).toISOString();

  test("deletes old runs and approvals by alarm, and never the audit log", async () => {
    const tenant = "old";
    await tell(tenant, "run_old", [
      runNotice(1, { status: "completed", createdAt: ago(41), endedAt: ago(40) }),
      approvalNotice(2, { requestedAt: ago(41), expiresAt: ago(40) }),
      auditNotice(3, { at: ago(40) }),
    ]);
    await tell(tenant, "run_open", [runNotice(1, { createdAt: ago(50) })]);
    await tell(tenant, "run_new", [runNotice(1, { status: "completed", endedAt: ago(1) })]);
    await runDurableObjectAlarm(tenantOf(tenant));
    const left = await tenantRows(tenant, `SELECT run_id FROM runs WHERE ${KEPT} ORDER BY run_id`);
    expect(left.map(({ run_id }) => run_id)).toEqual(["run_new", "run_open"]);
    expect(await tenantRows(tenant, "SELECT 1 FROM approvals")).toEqual([]);
    expect((await auditOf(tenant)).items.length).toBe(1);
    const alarm = await runInDurableObject(tenantOf(tenant), (_object, { storage }) =>
      storage.getAlarm(),
    );
    expect(alarm).toBeGreaterThan(Date.now() + DAY / 2);
  });

  test("goes by the ends of runs, in whatever order they began", async () => {
    const tenant = "long";
    const status = "completed";
    await tell(tenant, "run_long", [runNotice(1, { status, createdAt: ago(60), endedAt: ago(2) })]);
    await tell(tenant, "run_short", [
      runNotice(1, { status, createdAt: ago(50), endedAt: ago(49) }),
    ]);
    await runDurableObjectAlarm(tenantOf(tenant));
    expect(await tenantRows(tenant, `SELECT run_id FROM runs WHERE ${KEPT}`)).toEqual([
      { run_id: "run_long" },
    ]);
    const indexes = "SELECT name FROM sqlite_master WHERE tbl_name = 'runs' AND type = 'index'";
    expect(await tenantRows(tenant, `${indexes} AND sql IS NOT NULL`)).toEqual([
      { name: "runs_by_start" },
    ]);
  });

  test("keeps the number of a run's last notice for a day, so a repeated notice counts once", async () => {
    const tenant = "repeats";
    const ended = { status: "completed", createdAt: ago(41), endedAt: ago(40) } as const;
    const sent = [runNotice(1, ended), auditNotice(2, { at: ago(1) })];
    await tell(tenant, "run_old", sent);
    await runDurableObjectAlarm(tenantOf(tenant));
    const rowOf = (): Promise<unknown> =>
      tenantRows(tenant, "SELECT summary, person, actor, last_seq FROM runs");
    const blank = { summary: "{}", person: "", actor: "", last_seq: 2 };
    expect(await rowOf()).toEqual([blank]);
    await tell(tenant, "run_old", sent);
    expect(await rowOf()).toEqual([blank]);
    expect((await auditOf(tenant)).items.length).toBe(1);
    await tenantRows(
      tenant,
      `UPDATE runs SET heard_ms = heard_ms - ${2 * DAY}, ended_ms = ended_ms - ${2 * DAY}`,
    );
    await runInDurableObject(tenantOf(tenant), (object) => object.alarm());
    expect(await rowOf()).toEqual([]);
  });

  test("deletes a bounded number of rows per alarm, and the rest at the next alarm", async () => {
    await runInDurableObject(tenantOf("many"), (object) => {
      const sent = Array.from({ length: 1_500 }, (_, index) => `run_${index}`);
      for (const runId of sent) {
        const done = { status: "completed", createdAt: ago(41), endedAt: ago(40) } as const;
        void object.receive(runId as RunId, [runNotice(1, done)]);
      }
    });
    const count = async (): Promise<unknown> =>
      (await tenantRows("many", `SELECT count(*) AS n FROM runs WHERE ${KEPT}`))[0]?.["n"];
    const stub = tenantOf("many");
    await runInDurableObject(stub, (object) => object.alarm());
    expect([500, 0]).toContain(await count());
    await runInDurableObject(stub, (object) => object.alarm());
    expect(await count()).toBe(0);
  });

  test("does not delay the alarm of an unpublished pointer", async () => {
    const stub = tenantOf("pending");
    await runInDurableObject(stub, async (object, { storage }) => {
      const by = { actorId: "user:ann" as never };
      await object.change({
        tenantId: "pending" as never,
        policyText: "{}",
        expectedRevision: undefined,
        by,
      });
      new Deadlines(storage, new DeadlineTable(storage.sql)).set("policy", Date.now() + DAY / 24);
    });
    // An object holds its deadlines in memory; the next incarnation reads the one set above.
    await evictDurableObject(stub);
    await runInDurableObject(stub, async (object, { storage }) => {
      await object.receive(R1, [runNotice(1, { status: "completed", endedAt: ago(1) })]);
      expect(await storage.getAlarm()).toBeLessThan(Date.now() + DAY);
    });
  });
});
