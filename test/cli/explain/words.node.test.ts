import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRun } from "../../../cli/explain/read-run.ts";
import type { Send } from "../../../cli/push/deployment-client.ts";
import { explainRun } from "../../../cli/explain/explain-run.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { ActorId, RunId, ToolCallId } from "../../../src/protocol/identity/ids.ts";
import type { DoneReason } from "../../../src/protocol/run/event.ts";
import { statusOf } from "../../../src/protocol/run/state.ts";
import type { RunTrace, TracedCall } from "../../../src/protocol/run/trace.ts";
import { FAILURES } from "../../../src/protocol/outcome/failures.ts";
import { TAXONOMY_CLASSES, type TaxonomyClass } from "../../../src/protocol/outcome/taxonomy.ts";
import { formatReason, OUTCOME_WORDS } from "../../../src/protocol/run/reason-words.ts";
import { END_WORDS, GATE_WORDS } from "../../../src/protocol/run/words.ts";

const GUIDE = readFileSync(join(import.meta.dirname, "../../../docs/gates.md"), "utf8");
const SAMPLE = readFileSync(join(import.meta.dirname, "../../../docs/audit.md"), "utf8");
const AT = "2026-11-27T08:00:00.000Z";

const CALL: TracedCall = {
  toolCallId: "call_1" as ToolCallId,
  invocationId: "inv_1",
  name: "desk__refund",
  version: "1.0.0",
  step: 1,
  state: "FAILED_FINAL",
  outcome: "SEMANTIC_INVALIDITY",
  attempts: 1,
  startedAt: AT,
  proposedAt: AT,
  dispatches: 0,
};

/** A trace whose run, and whose other parts, differ in what is given. */
function traceOf(change: Partial<RunTrace["run"]> = {}, others: Partial<RunTrace> = {}): RunTrace {
  const usage = { inputTokens: 1, outputTokens: 2 };
  return {
    run: {
      runId: "run_1" as RunId,
      status: "completed",
      reason: "stop",
      model: "m",
      steps: 1,
      recoveries: 0,
      usage,
      timestamps: { createdAt: AT, endedAt: AT },
      ...change,
    },
    claim: { actorId: "user:ann" as ActorId, roles: [], scopes: [] },
    pins: {},
    steps: [{ step: 1, model: "m", finish: "stop", usage }],
    calls: [CALL],
    approvals: [],
    spending: {},
    incarnations: { count: 1, recoveries: 0, stop: null },
    notices: { arePending: false },
    ...others,
  };
}

const explain = (trace: RunTrace, entries: readonly AuditEntry[] = []): readonly string[] =>
  explainRun({ trace, entries });

const refusedBy = (gate: string): AuditEntry => ({
  action: "call.ended",
  at: AT,
  invocationId: "inv_1",
  outcome: "SEMANTIC_INVALIDITY",
  gates: { passed: [], refusedBy: gate },
});

test("each gate of docs/gates.md has its words, and no other", () => {
  const rows = [...GUIDE.matchAll(/^\| *\d* *\| (?:`\w+`)? *\| `(\w+)` *\|/gm)];
  const gates = new Set(rows.map(([, gate]) => gate ?? ""));
  expect(gates.size).toBeGreaterThan(15);
  expect([...GATE_WORDS.keys()].toSorted()).toEqual([...gates].toSorted());
  for (const gate of gates) {
    const text = explain(traceOf(), [refusedBy(gate)]).join("\n");
    expect(text).toContain(`the gate ${gate} ended it, because ${GATE_WORDS.get(gate)}`);
  }
});

test("each outcome of a call and each reason of the runtime has its words", () => {
  const told = (outcome: TaxonomyClass, reason?: string): string =>
    explain(traceOf(), [
      { ...refusedBy("state"), outcome, ...(reason !== undefined && { reason }) },
    ]).join("\n");
  for (const outcome of TAXONOMY_CLASSES) {
    if (outcome !== "SUCCESS") expect(told(outcome)).toContain(`; ${OUTCOME_WORDS[outcome]}`);
  }
  for (const [code, [outcome]] of Object.entries(FAILURES)) {
    const words = formatReason(code);
    expect(words, code).toMatch(/\w+ \w+ \w+/);
    expect(told(outcome ?? "UNKNOWN_ERROR", code)).toContain(`(${code}): ${words}`);
  }
  expect(formatReason("toString")).toBeUndefined();
});

test("docs/audit.md shows what is printed", () => {
  const [, id = ""] = /^(run_\w+): completed$/m.exec(SAMPLE) ?? [];
  const runId = id as RunId;
  const [begun, ended, called] = ["39.044", "39.592", "39.365"].map(
    (seconds) => `2026-11-27T07:26:${seconds}Z`,
  ) as [string, string, string];
  const step = (number: number) => ({
    step: number,
    model: "offline",
    finish: "stop" as const,
    usage: { inputTokens: 100, outputTokens: 6 },
  });
  const trace = traceOf(
    { runId, model: "offline", timestamps: { createdAt: begun, endedAt: ended } },
    {
      pins: {
        promptHash: `sha256:${"3f".repeat(32)}`,
        wire: "openai",
        wrapperVersion: "0.1.0",
        policy: { revision: 1, hash: "sha256:1" },
      },
      steps: [step(1), step(2)],
      calls: [{ ...CALL, name: "core__calculate", state: "COMPLETED", outcome: "SUCCESS" }],
    },
  );
  const developer = { actorId: "user:developer" as ActorId };
  const assistant = { assistantId: "default", assistantRevision: 1 };
  const told = explain(trace, [
    { action: "run.started", at: begun, ...developer, ...assistant },
    {
      action: "call.ended",
      at: called,
      invocationId: "inv_1",
      outcome: "SUCCESS",
      durationMs: 9,
      policyRevision: 1,
      input: { expression: "6*7" },
      gates: { passed: Array.from({ length: 21 }, () => "lookup") },
    },
    { action: "run.ended", at: ended, decision: "stop" },
  ]);
  expect(SAMPLE).toContain(told.join("\n"));
});

test("each end of a run has its words", () => {
  for (const [reason, words] of Object.entries(END_WORDS) as [DoneReason, string][]) {
    const told = explain(traceOf({ status: statusOf(reason, false), reason }));
    expect(told[1]).toBe(`  ${words}`);
  }
  const error = { code: "budget_exhausted", message: "The run has used up its budget: time." };
  const [first, second] = explain(traceOf({ status: "failed", reason: "error", error }));
  expect([first, second]).toEqual(["run_1: failed, budget_exhausted", `  ${error.message}`]);
  const open = traceOf({ status: "waiting", usage: { inputTokens: 0, outputTokens: 0 } });
  const { reason: _reason, ...run } = open.run;
  const [, waits, counted] = explain({ ...open, run });
  expect(waits).toContain("It waits");
  // The step in which it waits has not finished, and its model call was paid.
  expect(counted).toContain("1 tokens in, 2 out");
});

test("what a provider or a model wrote moves no terminal", () => {
  const hostile = "\u001b[2J\u001b]0;owned\u0007\u202egone\r\n";
  const trace = traceOf({}, { calls: [{ ...CALL, name: hostile }] });
  const failed = {
    action: "model.failed",
    at: AT,
    model: "m",
    status: 500,
    detail: hostile,
  } as const;
  const told = explain(trace, [failed, refusedBy("policy")]);
  expect(told.join("")).toContain("owned");
  for (const line of told) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("names that this version does not know are told as they are, and hide nothing", () => {
  const entry = (action: string) => ({ action, at: AT }) as unknown as AuditEntry;
  const odd = traceOf({ reason: "constructor" as DoneReason });
  const told = explain(odd, [entry("run.\u001bmoved"), entry("toString"), refusedBy("__proto__")]);
  expect(told[1]).toBe("  constructor");
  expect(told.join("\n")).toContain(`${AT} toString`);
  expect(told.join("\n")).toContain("the gate __proto__ ended it, because it refused");
  for (const line of told) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("an answer of another shape is refused by the name of its field", async () => {
  const pages: unknown[] = [];
  const send = (() => Promise.resolve({ kind: "ok", body: pages.shift() })) as unknown as Send;
  const told = (...answers: unknown[]) => {
    pages.splice(0, pages.length, ...answers);
    return readRun(send, "run_1");
  };
  const trace = traceOf();
  await expect(told({ ...trace, calls: [{ name: 7 }] })).rejects.toThrow("calls.0.invocationId");
  const records = [{ entry: { action: "run.started" } }];
  await expect(told({ ...trace, records })).rejects.toThrow("records.0.entry.at");
  const entry = { action: "run.started", at: AT };
  const page = { records: [{ entry }] };
  expect(await told({ ...trace, ...page, next: "more" }, page)).toEqual({
    trace: { ...trace, ...page, next: "more" },
    entries: [entry, entry],
  });
});
