import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { verifyChain } from "../../cli/audit/verify-chain.ts";
import type { SentNotice } from "../../src/capabilities/tenant.ts";
import { auditLine, GENESIS_HASH } from "../../src/protocol/audit/chain.ts";
import { composeTenants } from "../../src/compose/tenant.ts";
import type { ActorId, RunId, TenantId } from "../../src/protocol/identity/ids.ts";
import { bindings } from "../shared/worker.ts";
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
const EVERYTHING = { after: 0, limit: 5_000 } as const;

/** Verifies the audit chain of a tenant, as for an export. */
async function verdictOf(tenant: string) {
  const { items, head } = await auditOf(tenant);
  async function* lines(): AsyncGenerator<string> {
    for (const record of items) yield auditLine(record).trimEnd();
    yield auditLine({ head }).trimEnd();
  }
  return verifyChain(lines(), { head: head.hash });
}

test("a read of a tenant without notices finds and writes nothing", async () => {
  const { directory, queue, trail } = composeTenants(bindings.TENANTS);
  const tenantId = "untold" as TenantId;
  const viewer = { person: "user:ann" as ActorId, roles: [], decides: true, seesAll: true };
  const flags = { isMine: false, isDecidable: false, sort: "expiry" } as const;
  const seen = [
    await directory.list(tenantId, { limit: 5 }),
    await queue.list(tenantId, { viewer, status: "pending", ...flags, limit: 5 }),
    await trail.read(tenantId, EVERYTHING),
  ];
  const head = { seq: 0, hash: GENESIS_HASH };
  expect(seen).toEqual([{ items: [] }, { items: [] }, { items: [], head }]);
  const sql = "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'";
  expect(await tenantRows("untold", sql)).toEqual([]);
});

describe("notices", () => {
  test("count once, in any batches and however often they arrive", async () => {
    const [one, two, three] = [auditNotice(1), auditNotice(2), auditNotice(3)];
    await tell("once", R1, [one, two]);
    await tell("once", R1, [one, two]);
    await tell("once", R1, [two, three]);
    await tell("once", R1, [one]);
    expect((await auditOf("once")).items.length).toBe(3);
  });

  test("of two runs are numbered independently", async () => {
    await tell("two", "run_a", [auditNotice(7)]);
    await tell("two", "run_b", [auditNotice(7)]);
    expect((await auditOf("two")).items.map(({ entry }) => entry.runId)).toEqual([
      "run_a",
      "run_b",
    ]);
  });

  test("count for the run that sends them, even when they name another run", async () => {
    const forged = "run_other" as RunId;
    await tell("forged", R1, [
      auditNotice(1, { runId: forged }),
      runNotice(2, { runId: forged }),
      approvalNotice(3, { runId: forged }),
    ]);
    const rows = [
      ...(await tenantRows("forged", "SELECT run_id FROM audit")),
      ...(await tenantRows("forged", "SELECT run_id FROM runs")),
      ...(await tenantRows(
        "forged",
        "SELECT json_extract(summary, '$.runId') AS run_id FROM approvals",
      )),
    ];
    expect(rows.map(({ run_id }) => run_id)).toEqual([R1, R1, R1]);
  });

  test("of a batch with an invalid notice are not stored, and count when they arrive again", async () => {
    const broken = { seq: 2, notice: { type: "audit" } } as unknown as SentNotice;
    await expect(
      runInDurableObject(tenantOf("half"), (object) => object.receive(R1, [runNotice(1), broken])),
    ).rejects.toThrow();
    expect(await tenantRows("half", "SELECT status FROM runs")).toEqual([]);
    await tell("half", R1, [runNotice(1), auditNotice(2)]);
    expect(await tenantRows("half", "SELECT status FROM runs")).toHaveLength(1);
    expect((await auditOf("half")).items.length).toBe(1);
  });

  test("of a run replace its older directory entry", async () => {
    await tell("newer", R1, [runNotice(1)]);
    await tell("newer", R1, [runNotice(2, { status: "completed", title: "Mine" })]);
    const rows = await tenantRows("newer", "SELECT status, summary FROM runs");
    expect(rows).toEqual([{ status: "completed", summary: expect.stringContaining("Mine") }]);
  });
});

describe("stored bytes", () => {
  const ask = (tenant: string, person: string) =>
    tenantOf(tenant).storageUse({ person, windowSeconds: 86_400 });
  const grownTo = (seq: number, storedBytes: number, actorId = "user:mira"): SentNotice =>
    runNotice(seq, { storedBytes, actorId: actorId as ActorId });

  test("count what each report adds, for the person and for the tenant", async () => {
    await tell("hoard", "run_a", [grownTo(1, 1_000), grownTo(2, 1_500)]);
    await tell("hoard", "run_a", [grownTo(2, 1_500)]);
    await tell("hoard", "run_a", [grownTo(3, 1_800)]);
    await tell("hoard", "run_b", [grownTo(1, 500, "user:noor")]);
    expect(await ask("hoard", "user:mira")).toEqual({ actorBytes: 1_800, tenantBytes: 2_300 });
    expect(await ask("hoard", "user:noor")).toEqual({ actorBytes: 500, tenantBytes: 2_300 });
  });

  test("tell what a person used: of the run that sends them, hashes alone, at most 1,100", async () => {
    const hashOf = (number: number): string => number.toString(16).padStart(32, "0");
    const batches = Array.from({ length: 14 }, (_, batch) => {
      const { seq, notice } = auditNotice(batch + 2, { actorId: "user:forged" as ActorId });
      const usedNames = Array.from({ length: 100 }, (__, at) => hashOf(batch * 100 + at));
      return { seq, notice: { ...notice, usedNames: [...usedNames, "ann@acme.example", ""] } };
    });
    await tell("users", R1, [runNotice(1), ...(batches as SentNotice[])]);
    const sql = "SELECT person, length(hash) AS long, count(*) AS count FROM used_names";
    const [row, ...others] = await tenantRows("users", `${sql} GROUP BY person, long`);
    expect([row, others]).toMatchObject([{ person: "user:mira", long: 32 }, []]);
    const asked = Array.from({ length: 1_500 }, (_, at) => hashOf(at));
    const known = await tenantOf("users").usedNames("user:mira", asked);
    expect([known.length, known.length >= 1_000, known.length <= 1_100]).toEqual([
      row?.["count"],
      true,
      true,
    ]);
    expect(await tenantOf("users").usedNames("user:forged", asked)).toEqual([]);
  });

  test("count what a run adds to the audit log, for the person whose run it is", async () => {
    await tell("wordy", R1, [runNotice(1), auditNotice(2, { reason: "x".repeat(3_000) })]);
    const { actorBytes } = await ask("wordy", "user:mira");
    expect(actorBytes).toBeGreaterThan(3_000);
  });
});

describe("the audit chain", () => {
  test("stays whole under a thousand simultaneous notices of fifty runs, half of them sent twice", async () => {
    const runs = Array.from({ length: 50 }, (_, index) => `run_${index}`);
    await Promise.all(
      runs.flatMap((runId, index) => {
        const sent = Array.from({ length: 20 }, (_, seq) =>
          auditNotice(seq + 1, { reason: runId }),
        );
        const batches = [sent.slice(0, 7), sent.slice(7, 12), sent.slice(12)];
        const send = async (): Promise<void> => {
          for (const batch of batches) await tell("crowd", runId, batch);
        };
        return index % 2 === 0 ? [send()] : [send(), send()];
      }),
    );
    expect(await verdictOf("crowd")).toMatchObject({ kind: "whole", count: 1_000 });
    const rows = await tenantRows(
      "crowd",
      "SELECT run_id, count(*) AS n FROM audit GROUP BY run_id",
    );
    expect(rows.map(({ n }) => n)).toEqual(runs.map(() => 20));
  });

  test("continues after a crash, and repeated notices count once", async () => {
    await tell("lives", R1, [auditNotice(1), auditNotice(2)]);
    await runInDurableObject(tenantOf("lives"), (_object, state) => state.abort("crash")).catch(
      () => {},
    );
    await tell("lives", R1, [auditNotice(2), auditNotice(3)]);
    await evictDurableObject(tenantOf("lives"));
    await tell("lives", R1, [auditNotice(4)]);
    expect(await verdictOf("lives")).toMatchObject({ kind: "whole", count: 4 });
  });

  test("holds nothing after a crash before the commit, so the notices count when repeated", async () => {
    await runInDurableObject(tenantOf("torn"), (object, state) => {
      void object.receive(R1, [auditNotice(1)]);
      state.abort("crash");
    }).catch(() => {});
    await tell("torn", R1, [auditNotice(1)]);
    expect(await verdictOf("torn")).toMatchObject({ kind: "whole", count: 1 });
  });

  test("holds entries of the Worker and of policy changes between entries of runs", async () => {
    const TENANT = "mixed";
    const stub = tenantOf(TENANT);
    const at = new Date().toISOString();
    await tell("mixed", R1, [auditNotice(1)]);
    await stub.record({ action: "connection.stored", at, connectionId: "crm" as never });
    const by = { actorId: "user:ann" as never };
    await stub.change({
      tenantId: "mixed" as never,
      policyText: "{}",
      expectedRevision: undefined,
      by,
    });
    const { items } = await auditOf(TENANT);
    expect(items.map(({ entry }) => entry.action)).toEqual([
      "run.started",
      "connection.stored",
      "policy.changed",
    ]);
    expect(items[2]?.entry).toMatchObject({ actorId: "user:ann", policyRevision: 1 });
    expect(await verdictOf("mixed")).toMatchObject({ kind: "whole", count: 3 });
  });

  test("holds no entry for a refused policy change", async () => {
    const TENANT = "unmade";
    const stub = tenantOf(TENANT);
    const by = { actorId: "user:ann" as never };
    await stub.change({ tenantId: "unmade" as never, policyText: "{}", expectedRevision: 7, by });
    expect((await auditOf(TENANT)).items).toEqual([]);
  });
});

describe("a stored record", () => {
  const SECRET = "sk-4f9a8b7c6d5e4f3a2b1c";

  test("holds no text that looks like a secret, in any field", async () => {
    await tell("clean", R1, [
      auditNotice(1, {
        reason: SECRET,
        input: { a: SECRET, [SECRET]: 1, deep: [{ b: `Bearer ${SECRET}` }], password: "plain" },
        result: { text: `the key is ${SECRET}` },
      }),
      runNotice(2, { title: SECRET }),
      approvalNotice(3, { title: SECRET }),
    ]);
    const rows = [
      await tenantRows("clean", "SELECT * FROM audit"),
      await tenantRows("clean", "SELECT * FROM runs"),
      await tenantRows("clean", "SELECT * FROM approvals"),
    ];
    expect(JSON.stringify(rows)).not.toContain(SECRET.slice(3));
    expect(JSON.stringify(rows)).not.toContain("plain");
    expect(await verdictOf("clean")).toMatchObject({ kind: "whole" });
  });

  test("has a bounded size and a canonical form for any notice", async () => {
    const half = "\ud800";
    const huge = "x".repeat(200_000);
    await tell("odd", R1, [
      auditNotice(1, {
        toolId: `a${half}`,
        reason: huge,
        input: { [half]: half },
        result: { huge },
      }),
      runNotice(2, { title: huge + half }),
    ]);
    const [record] = (await auditOf("odd")).items;
    const { input, result, reason } = record?.entry ?? {};
    expect([input, result, reason?.length]).toEqual([
      { "\ufffd": "\ufffd" },
      { omitted_chars: 200_011 },
      4_096,
    ]);
    expect(await verdictOf("odd")).toMatchObject({ kind: "whole", count: 1 });
  });
});
