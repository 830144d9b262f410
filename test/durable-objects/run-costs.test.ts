import { runInDurableObject } from "cloudflare:test";
import { beforeAll, expect, test } from "vitest";
import type { RunSummary } from "../../src/protocol/run/summary.ts";
import type { ScriptedStep } from "../fakes/scripted-model.ts";
import { callOf } from "../shared/people.ts";
import { findExcess, meterNextRun, type RunCosts, untilQuiet } from "../shared/run-meter.ts";
import { tenantOf, tenantRows } from "../shared/tenant-notices.ts";
import { chat, runIdOf, seedPolicies, send, type Caller } from "../shared/worker.ts";
import budgets from "./run-costs.json";

beforeAll(seedPolicies);

/** A run of one kind: its caller, the answers of its model, and the status at its end. */
interface RunKind {
  readonly caller: Caller;
  readonly steps: readonly ScriptedStep[];
  /** The arguments of a direct call of `core__calculate`, instead of answers of a model. */
  readonly call?: object;
  readonly status: "completed" | "waiting";
}

const DONE: ScriptedStep = { text: ["done"] };
const calculate = (step: number): ScriptedStep => ({
  calls: [callOf("core__calculate", { expression: `6 * ${step}` }, `call_${step}`)],
});
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

const KINDS: Readonly<Record<keyof typeof budgets, RunKind>> = {
  "a short answer": { caller: "lab", steps: [DONE], status: "completed" },
  "20 deltas": {
    caller: "lab",
    steps: [{ text: upTo(20).map((at) => `word ${at} `) }],
    status: "completed",
  },
  "one tool step": { caller: "lab", steps: [calculate(0), DONE], status: "completed" },
  "20 tool steps": {
    caller: "lab",
    steps: [...upTo(20).map(calculate), DONE],
    status: "completed",
  },
  "a direct call": {
    caller: "lab",
    steps: [],
    call: { expression: "6 * 7" },
    status: "completed",
  },
  "a refused direct call": {
    caller: "lab",
    steps: [],
    call: { wrong: 1 },
    status: "completed",
  },
  "one write": {
    caller: "lab",
    steps: [{ calls: [callOf("lab__write_note", { text: "costs" })] }, DONE],
    status: "completed",
  },
  "a waiting approval": {
    caller: "ann",
    steps: [{ calls: [callOf("lab__transfer", { to: "bakery", amount: 40 })] }, DONE],
    status: "waiting",
  },
};

/** Carries a run of one kind to its end, or to its approval. Answers what the run cost. */
async function costsOf({ caller, steps, call, status }: RunKind): Promise<RunCosts> {
  const costs = meterNextRun();
  const response = call ? await invoke(caller, call) : await chat(steps, caller);
  const runId = runIdOf(response);
  await response.text();
  while (!(await isListed(runId, caller, status))) await scheduler.wait(20);
  await untilQuiet(costs);
  return costs;
}

function invoke(caller: Caller, args: object): Promise<Response> {
  return send("/v1/tools/core__calculate/invoke", {
    caller,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ arguments: args }),
  });
}

/** Tells whether the tenant's list shows a run with a status. */
async function isListed(runId: string, caller: Caller, status: string): Promise<boolean> {
  const response = await send("/v1/runs", { caller });
  const { runs } = await response.json<{ runs: readonly RunSummary[] }>();
  return runs.some((run) => run.runId === runId && run.status === status);
}

// A busy machine cuts outcomes into more commits, so the best of several runs counts, and a long
// run has room for a second commit in most of its steps.
test.each(Object.entries(KINDS))("%s costs no more than its budget", async (name, kind) => {
  const budget = budgets[name as keyof typeof budgets];
  await expect
    .poll(async () => findExcess(await costsOf(kind), budget), { timeout: 20_000 })
    .toEqual([]);
});

/** So many that a page more or less does not move their average. */
const RUNS = 240;

/**
 * The entries of the lists, the audit records, and their indexes. Where random ids split a page
 * moves it by some 40 bytes.
 */
test.each<[string, number, (at: number) => Promise<Response>]>([
  ["a short answer", 1_450, () => chat([DONE], "lab")],
  ["a direct call", 1_700, (at) => invoke("lab", { expression: `6 * ${at}` })],
])("%s adds at most %i bytes to its tenant's object", async (_name, most, run) => {
  const listed = async (): Promise<number> =>
    (await tenantRows("lab", "SELECT 1 FROM runs WHERE status = 'completed'")).length;
  const bytes = (): Promise<number> =>
    runInDurableObject(tenantOf("lab"), (_object, { storage }) => storage.sql.databaseSize);
  const [ended, before] = [await listed(), await bytes()];
  for (let made = 0; made < RUNS; made += 20) {
    for (const response of await Promise.all(upTo(20).map(run))) await response.text();
  }
  await expect.poll(listed, { timeout: 20_000 }).toBe(ended + RUNS);
  expect(((await bytes()) - before) / RUNS).toBeLessThanOrEqual(most);
});
