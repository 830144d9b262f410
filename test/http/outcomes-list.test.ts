import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AwaitedOutcome } from "../../src/protocol/run/awaited-outcome.ts";
import { written } from "../workers/lab-writes.ts";
import {
  cancel,
  changeInvocation,
  crash,
  ring,
  tellOutcome,
  untilState,
} from "../shared/run-object.ts";
import { isoAt, runNotice, tell, tenantRows } from "../shared/tenant-notices.ts";
import { chat, runIdOf, seedPolicies, send, type Caller } from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  written.length = 0;
});

type Listed = Omit<AwaitedOutcome, "withheld"> & { readonly lines: readonly { text: string }[] };

async function listOf(query = "", caller: Caller = "lab"): Promise<readonly Listed[]> {
  const response = await send(`/v1/outcomes${query}`, { caller });
  expect(response.status).toBe(200);
  return (await response.json<{ outcomes: readonly Listed[] }>()).outcomes;
}

/** Waits until the list names a run's calls, or no longer does. */
async function untilListed(runId: string, ids: readonly string[]): Promise<readonly Listed[]> {
  const own = async () => (await listOf("?limit=100")).filter((call) => call.runId === runId);
  await expect.poll(async () => (await own()).map((call) => call.invocationId)).toEqual(ids);
  return own();
}

/** Starts a run whose payments are made, and whose answers are lost. */
async function startInDoubt(...whats: readonly string[]): Promise<string> {
  const calls = whats.map((what) => ({
    id: `pay_${what}`,
    name: "lab__pay",
    args: JSON.stringify({ what, afterwards: "break" }),
  }));
  const response = await chat([{ calls }, { text: ["done"] }], "lab");
  const runId = runIdOf(response);
  await untilState(runId, { status: "waiting" });
  await response.body?.cancel().catch(() => {});
  return runId;
}

const COMMITTED = { outcome: "committed" };

test("lists a call with an unknown outcome until an operator reports it", async () => {
  const runId = await startInDoubt("rent");
  const [call] = await untilListed(runId, ["inv_1"]);
  expect(call).toEqual({
    runId,
    invocationId: "inv_1",
    toolCallId: "pay_rent",
    toolId: "lab__pay",
    toolVersion: "1.0.0",
    arguments: { what: "rent" },
    lines: [
      expect.objectContaining({ field: "arguments", label: "What", text: "rent" }),
      // The list says that an argument exists which the contract does not show.
      expect.objectContaining({ field: "withheld", pointer: "/afterwards" }),
    ],
    attempts: 1,
    owner: "lab",
    requestedBy: "user:lab",
    dispatchedAt: expect.any(String),
    awaitsOutcomeUntil: expect.any(String),
  });
  expect((await tellOutcome(runId, { body: COMMITTED })).status).toBe(200);
  await untilListed(runId, []);
});

test("two calls of one run are listed and resolved one by one, also across a crash", async () => {
  const runId = await startInDoubt("one", "two");
  await untilListed(runId, ["inv_1", "inv_2"]);
  await crash(runId);
  await tellOutcome(runId, { body: COMMITTED });
  await untilListed(runId, ["inv_2"]);
  await tellOutcome(runId, { invocation: "inv_2", body: { outcome: "not_committed" } });
  await untilListed(runId, []);
});

test.each([
  ["a cancelled run", (runId: string) => cancel(runId)],
  [
    "an expired outcome",
    async (runId: string) => {
      await changeInvocation(runId, 1, { awaitedUntilMs: 1 });
      await ring(runId, "outcome");
    },
  ],
])("%s is listed no more", async (_name, end) => {
  const runId = await startInDoubt("gone");
  await untilListed(runId, ["inv_1"]);
  await end(runId);
  await untilListed(runId, []);
});

test("an outcome that expired is not listed, even if its run never reports again", async () => {
  const outcome = {
    runId: "run_silent",
    invocationId: "inv_1",
    toolId: "lab__pay",
    arguments: {},
    withheld: [],
    awaitsOutcomeUntil: isoAt(-1_000),
  };
  const { seq, notice } = runNotice(1);
  await tell("lab", "run_silent", [{ seq, notice: { ...notice, outcomes: [outcome] } as never }]);
  expect((await listOf("?limit=100")).filter(({ runId }) => runId === "run_silent")).toEqual([]);
});

describe("a report of a run", () => {
  const outcomeOf = (runId: string, more: object = {}) => ({
    runId,
    invocationId: "inv_1",
    toolCallId: "call_1",
    toolId: "lab__pay",
    toolVersion: "1.0.0",
    arguments: { note: "token sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD" },
    withheld: [],
    attempts: 1,
    requestedBy: "user:lab",
    awaitsOutcomeUntil: isoAt(3_600_000),
    ...more,
  });
  const report = (tenant: string, runId: string, seq: number, outcomes: readonly object[]) => {
    const { notice } = runNotice(seq);
    return tell(tenant, runId, [{ seq, notice: { ...notice, outcomes } as never }]);
  };
  const rowsOf = (tenant: string) =>
    tenantRows(tenant, "SELECT id, run_id, body FROM outcomes ORDER BY id");

  test("counts once, and an older one changes nothing", async () => {
    await report("told", "run_x", 2, [outcomeOf("run_x")]);
    await report("told", "run_x", 2, [
      outcomeOf("run_x"),
      outcomeOf("run_x", { invocationId: "inv_2" }),
    ]);
    await report("told", "run_x", 1, []);
    expect((await rowsOf("told")).map(({ id }) => id)).toEqual(["run_x/inv_1"]);
  });

  test("names its own run alone", async () => {
    await report("told", "run_y", 1, [outcomeOf("run_x")]);
    const rows = await rowsOf("told");
    expect(rows.map(({ id, body }) => [id, JSON.parse(body as string).runId])).toContainEqual([
      "run_y/inv_1",
      "run_y",
    ]);
  });

  test("is masked before it is stored", async () => {
    await report("masked", "run_z", 1, [outcomeOf("run_z")]);
    const [row] = await rowsOf("masked");
    expect(row?.["body"]).not.toContain("sk-abcdefghijklmnopqrstuvwxyz");
  });

  test("without an unknown outcome creates no table", async () => {
    await tell("plain", "run_p", [runNotice(1)]);
    const sql = "SELECT name FROM sqlite_master WHERE name = 'outcomes'";
    expect(await tenantRows("plain", sql)).toEqual([]);
  });
});

test("is read in pages, the most urgent first, and filtered by tool, person and assistant", async () => {
  const runId = await startInDoubt("a", "b", "c");
  await untilListed(runId, ["inv_1", "inv_2", "inv_3"]);
  const seen: string[] = [];
  let cursor = "";
  do {
    const response = await send(`/v1/outcomes?limit=2&tool=lab__pay${cursor}`, { caller: "lab" });
    const page = await response.json<{ outcomes: readonly Listed[]; next?: string }>();
    seen.push(...page.outcomes.map(({ awaitsOutcomeUntil }) => awaitsOutcomeUntil));
    cursor = page.next === undefined ? "" : `&cursor=${encodeURIComponent(page.next)}`;
  } while (cursor !== "");
  expect(seen.length).toBeGreaterThanOrEqual(3);
  expect(seen).toEqual(seen.toSorted());
  expect(await listOf("?tool=lab__book")).toEqual([]);
  const ofLab = await listOf("?person=user:lab&assistant=default&limit=100");
  expect(ofLab.map((call) => call.runId)).toContain(runId);
  expect(await listOf("?person=user:rival")).toEqual([]);
  expect(await listOf("?assistant=other")).toEqual([]);
});

describe("refuses", () => {
  test.each(["talker", "reader"] as const)("a caller without the scope: %s", async (caller) => {
    expect((await send("/v1/outcomes", { caller })).status).toBe(403);
  });

  test.each(["?status=open", "?limit=0", "?limit=1&limit=2", "?person="])(
    "the query %s",
    async (query) => {
      expect((await send(`/v1/outcomes${query}`, { caller: "lab" })).status).toBe(400);
    },
  );

  test("to show or resolve a call of another tenant, which answers as an unknown one", async () => {
    const runId = await startInDoubt("mine");
    await untilListed(runId, ["inv_1"]);
    expect((await listOf("?limit=100", "rival")).map((call) => call.runId)).not.toContain(runId);
    const settle = async (id: string): Promise<string> => {
      const told = await tellOutcome(id, { body: COMMITTED, caller: "rival" });
      return `${told.status} ${await told.text()}`;
    };
    const unknown = `run_${"0".repeat(32)}_${"0".repeat(32)}`;
    expect(await settle(runId)).toBe(await settle(unknown));
    await untilListed(runId, ["inv_1"]);
  });

  test("a cursor of another tenant", async () => {
    const runId = await startInDoubt("d", "e");
    await untilListed(runId, ["inv_1", "inv_2"]);
    const first = await send("/v1/outcomes?limit=1", { caller: "lab" });
    const { next = "" } = await first.json<{ next?: string }>();
    const stolen = `/v1/outcomes?limit=1&cursor=${encodeURIComponent(next)}`;
    expect((await send(stolen, { caller: "rival" })).status).toBe(400);
  });
});
