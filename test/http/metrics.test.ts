import { beforeAll, beforeEach, expect, test } from "vitest";
import type { SentNotice } from "../../src/capabilities/tenant.ts";
import type { UsageReport } from "../../src/http/metrics/usage.ts";
import { seriesOf } from "../../src/protocol/metric/measures.ts";
import { script } from "../fakes/scripted-model.ts";
import { APPROVE, askFor, callOf, decide, REJECT } from "../shared/people.ts";
import { readOpenMetrics } from "../shared/open-metrics.ts";
import { refusalOf, untilState } from "../shared/run-object.ts";
import {
  auditNotice,
  isoAt,
  runNotice,
  tell,
  tenantOf,
  tenantRows,
} from "../shared/tenant-notices.ts";
import {
  chat,
  govern,
  postChat,
  runIdOf,
  seedPolicies,
  send,
  type Caller,
} from "../shared/worker.ts";
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
    {
      seq,
      notice: {
        type: "measures",
        measures: { [series]: { runs: 1, calls: -5 } },
        spent: { [seriesOf("model", "a", "m")]: { cost_EUR: 1, input: -5 } },
      },
    },
  ];
  await tell("bendable-told", "run_1", sent(1, "run"));
  const old =
    "INSERT INTO spending VALUES ('2000-01-01', '{}'), ('2000-01-02', '{}') RETURNING day";
  expect(await tenantRows("bendable-told", old)).toHaveLength(2);
  for (let seq = 2; seq <= 200; seq++) {
    const series = seriesOf("run", seq === 2 ? 'a"\\\n}' : `reason-${seq % 3}`);
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
  const spent = await tenantOf("bendable-told").spending({ from: "1999-01-01", to: "2999-12-31" });
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  expect(spent).toEqual([{ day, spent: { [seriesOf("model", "a", "m")]: { cost_EUR: 200 } } }]);
  expect(await tenantRows("bendable-told", "SELECT 1 FROM spending WHERE day < '2001'")).toEqual(
    [],
  );

  const many = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, at) => [
      seriesOf("tool", `made_up_${at}`, "1"),
      { SUCCESS: 1 },
    ]),
  );
  const report = { type: "measures", measures: many, spent: {} } as const;
  await tell("bendable-many", "run_1", [{ seq: 1, notice: report }]);
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

const LOOK = "lab__look_in_register";
const NOTHING = { cachedInputTokens: 0, reasoningTokens: 0, unpricedTokens: 0 };
const billed = (prompt: number, completion: number): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
});

test("what runs used is told in money, by day, assistant, model and tool", async () => {
  await govern({ allowedTools: [LOOK] });
  // A token of "cheap" costs a millionth; one of "dear" costs 200, and 1,000 in an answer.
  const content = script(
    { calls: [callOf(LOOK, { what: "acme" })], usage: billed(900, 100) },
    { status: 503, as: { dear: { text: ["Here."], usage: billed(40, 2) } } },
  );
  const response = await postChat(
    { model: "cheap", messages: [{ role: "user", content }] },
    "bendable",
  );
  expect(await response.text()).toContain("Here.");
  const read = async (query = ""): Promise<UsageReport> =>
    (await send(`/v1/usage${query}`, { caller: "bendable" })).json<UsageReport>();
  const used = async (): Promise<object> => {
    const [today] = (await read()).days;
    const models = today?.models.filter(({ model }) => ["cheap", "dear"].includes(model));
    return [models, today?.tools.filter(({ toolId }) => toolId === LOOK)];
  };
  const assistantId = "default";
  const dollars = (amount: number): object => ({ cost: [{ currency: "USD", amount }] });
  await expect.poll(used).toEqual([
    [
      {
        assistantId,
        model: "cheap",
        runs: 1,
        inputTokens: 900,
        outputTokens: 100,
        ...NOTHING,
        ...dollars(0.001),
      },
      {
        assistantId,
        model: "dear",
        runs: 1,
        inputTokens: 40,
        outputTokens: 2,
        ...NOTHING,
        ...dollars(0.01),
      },
    ],
    [{ assistantId, toolId: LOOK, version: "1.0.0", calls: 1, ...dollars(1) }],
  ]);
  const report = await read();
  const today = report.days[0]?.day ?? "";
  expect(report).toMatchObject({ toDay: today, ...dollars(1.011) });
  expect(await read(`?fromDay=${today}&toDay=${today}`)).toEqual({ ...report, fromDay: today });
  expect(await read("?fromDay=2026-01-01&toDay=2026-01-31")).toMatchObject({ cost: [], days: [] });
});

test("usage needs its scope, whole days, and shows nothing of another tenant", async () => {
  const refusal = async (path: string, caller: Caller = "bendable"): Promise<unknown> =>
    refusalOf(await send(`/v1/usage${path}`, { caller }));
  expect(await refusal("", "oscar")).toEqual([403, "insufficient_scope"]);
  for (const query of [
    "fromDay=2026-02-30",
    "toDay=now",
    "fromDay=2026-01-02&toDay=2026-01-01",
    "day=1",
  ]) {
    expect(await refusal(`?${query}`)).toEqual([400, "query_invalid"]);
  }
  expect(await refusal("?fromDay=2026-01-01&toDay=2026-04-03")).toEqual([400, "query_invalid"]);
  const other = await send("/v1/usage", { caller: "gauge" });
  expect(await other.json()).toMatchObject({ cost: [], days: [] });
});

test("a batch of notices is one row, with failed model calls and a late report", async () => {
  const told = "bendable-behind";
  const failed = (seq: number): SentNotice =>
    auditNotice(seq, { action: "model.failed", model: "m" });
  const ended = (agoMs: number): readonly SentNotice[] => [
    failed(1),
    failed(2),
    runNotice(3, { status: "completed", endedAt: isoAt(-agoMs) }),
    { seq: 4, notice: { type: "measures", measures: { [seriesOf("run")]: { runs: 1 } } } },
  ];
  await tell(told, "run_0", [failed(1)]);
  const tables = "SELECT name FROM sqlite_master WHERE name = 'measures'";
  expect(await tenantRows(told, tables)).toEqual([]);
  await tell(told, "run_1", ended(120_000));
  await tell(told, "run_2", ended(1_000));
  const { measures, gauges } = await tenantOf(told).metrics();
  expect(measures).toEqual({
    [seriesOf("run")]: { runs: 2 },
    [seriesOf("model", "m")]: { failed: 4 },
    [seriesOf("outbox")]: { late: 1 },
  });
  expect(await tenantRows(told, "SELECT number FROM measures")).toHaveLength(2);
  expect(gauges.retentionLateMs).toBe(0);
  await tenantRows(told, "UPDATE audit SET at_ms = 1");
  expect((await tenantOf(told).metrics()).gauges.retentionLateMs).toBeGreaterThan(3_600_000);
});
