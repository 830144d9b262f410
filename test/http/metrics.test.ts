import { beforeAll, beforeEach, expect, test } from "vitest";
import type { SentNotice } from "../../src/capabilities/tenant.ts";
import { seriesOf } from "../../src/protocol/metric/measures.ts";
import { APPROVE, askFor, callOf, decide, REJECT } from "../shared/people.ts";
import { readOpenMetrics } from "../shared/open-metrics.ts";
import { untilState } from "../shared/run-object.ts";
import { tell, tenantRows } from "../shared/tenant-notices.ts";
import { chat, govern, runIdOf, seedPolicies, send, type Caller } from "../shared/worker.ts";
import { effects } from "../workers/lab-tools.ts";

const FLAKY = "lab__flaky";
const MAIL = "lab__send_mail";

beforeAll(async () => {
  await seedPolicies();
  await govern({ allowedTools: [FLAKY, MAIL] });
});
beforeEach(() => void (effects.length = 0));

async function textOf(caller: Caller): Promise<string> {
  const response = await send("/v1/metrics", { caller });
  const type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
  expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
  return new TextDecoder().decode(await response.arrayBuffer());
}

/** Reads every sample of a tenant, by its name and labels. */
async function scrape(caller: Caller = "bendable"): Promise<ReadonlyMap<string, number>> {
  const families = readOpenMetrics(await textOf(caller));
  return new Map([...families.values()].flatMap(({ samples }) => Array.from(samples)));
}

/** Waits until so many runs stopped, because the counts follow the runs with a short delay. */
async function untilStopped(runs: number): Promise<void> {
  const stopped = 'interlock_runs_total{reason="stop"}';
  await expect.poll(async () => (await scrape()).get(stopped)).toBe(runs);
}

/** Names the counters of a tool that are not zero, without durations. */
function countersOf(samples: ReadonlyMap<string, number>, tool: string): object {
  const own = [...samples].flatMap(([sample, value]) => {
    const [, name = "", of = "", end = ""] =
      /^interlock_tool_(\w+)_total\{tool="(\w+)",version="[\d.]*"(?:,class="(\w+)")?\}$/.exec(
        sample,
      ) ?? [];
    return of === tool && value > 0 ? [[end === "" ? name : end, value] as const] : [];
  });
  return Object.fromEntries(own);
}

const checked = (calls: number): object => ({
  schema_valid: calls,
  semantic_valid: calls,
  executions: 1,
  successful_executions: 1,
});

test("what a model corrects, what is tried again and what people reject is counted by tool", async () => {
  const response = await chat(
    [
      { calls: [callOf(FLAKY, { extra: 1 }, "c1")] },
      { calls: [callOf(FLAKY, {}, "c2")] },
      { calls: [callOf("lab__secret_plan", {}, "c3")] },
      { text: ["done"] },
    ],
    "victor",
  );
  await untilState(runIdOf(response), { status: "completed" }, "victor");
  const mail = callOf(MAIL, { to: "bo@example.com", text: "hi" });
  const rejected = await askFor([mail], "victor");
  await expect.poll(async () => (await scrape()).get("interlock_open_approvals")).toBe(1);
  expect((await scrape()).get('interlock_open_runs{status="waiting"}')).toBe(1);
  await decide(rejected.approvalId, "victor", REJECT);
  const approved = await askFor([mail], "victor");
  await decide(approved.approvalId, "victor", APPROVE);
  await untilStopped(3);

  const samples = await scrape();
  expect(countersOf(samples, FLAKY)).toEqual({
    ...checked(1),
    SUCCESS: 1,
    STRUCTURAL_VIOLATION: 1,
    rejected: 1,
    complete: 2,
    repair_loops: 1,
    repaired: 1,
    retries: 1,
    successful_retries: 1,
  });
  expect(countersOf(samples, MAIL)).toEqual({
    ...checked(2),
    SUCCESS: 1,
    PERMISSION_DENIED: 1,
    rejected: 1,
    complete: 2,
    schema_valid_first_try: 2,
    mutating: 2,
    mutating_requests: 1,
    mutating_observations: 1,
    verification_required: 1,
    confirmation_required: 2,
    confirmation_requests: 2,
    confirmation_rejected: 1,
  });
  const unknown = { STRUCTURAL_VIOLATION: 1, rejected: 1, complete: 1 };
  expect(countersOf(samples, "unknown")).toEqual(unknown);
  expect(effects).toEqual(["mail to bo@example.com"]);

  const calls = `interlock_tool_duration_seconds_count{tool="${MAIL}",version="1.0.0"}`;
  expect([samples.get(calls), samples.get("interlock_open_approvals")]).toEqual([2, 0]);
  expect(samples.get('interlock_model_calls_total{model="scripted"}')).toBe(8);
  const text = await textOf("bendable");
  for (const word of ["victor", "bo@example.com", "lab__secret_plan", runIdOf(response)]) {
    expect(text).not.toContain(word);
  }
});

test("a report counts once, and hostile or many names cost no more series", async () => {
  const sent = (seq: number, series: string): readonly SentNotice[] => [
    { seq, notice: { type: "measures", measures: { [series]: { runs: 1, calls: -5 } } } },
  ];
  for (let seq = 1; seq <= 200; seq++) {
    const series = seriesOf("run", seq === 1 ? 'a"\\\n}' : `reason-${seq % 3}`);
    await tell("bendable-told", "run_1", sent(seq, series));
    await tell("bendable-told", "run_1", sent(seq, series));
  }
  const rows = await tenantRows("bendable-told", "SELECT counts FROM measures");
  expect(rows.length).toBeLessThanOrEqual(64);
  const counted = rows.flatMap(({ counts }) =>
    Object.values(JSON.parse(counts as string) as object),
  );
  expect(counted.reduce((sum: number, { runs }: { runs: number }) => sum + runs, 0)).toBe(200);
  expect(JSON.stringify(rows)).not.toContain("calls");

  const many = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, at) => [
      seriesOf("tool", `made_up_${at}`, "1"),
      { SUCCESS: 1 },
    ]),
  );
  await tell("bendable-many", "run_1", [{ seq: 1, notice: { type: "measures", measures: many } }]);
  const [row] = await tenantRows("bendable-many", "SELECT counts FROM measures");
  const kept = JSON.parse(row?.["counts"] as string) as Record<string, { SUCCESS: number }>;
  expect(Object.keys(kept)).toHaveLength(201);
  expect(kept[seriesOf("tool", "other", "other")]).toEqual({ SUCCESS: 4_800 });
});

test("metrics need their scope, and hold nothing of another tenant", async () => {
  const refused = await send("/v1/metrics", { caller: "oscar" });
  expect([refused.status, (await refused.json<{ code: string }>()).code]).toEqual([
    403,
    "insufficient_scope",
  ]);
  const samples = await scrape("gauge");
  expect([...samples].filter(([name]) => name.startsWith("interlock_tool_calls"))).toEqual([]);
});
