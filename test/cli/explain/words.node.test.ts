import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRun } from "../../../cli/explain/read-run.ts";
import type { Send } from "../../../cli/push/deployment-client.ts";
import { explainRun } from "../../../cli/explain/explain-run.ts";
import { END_WORDS, GATE_WORDS } from "../../../cli/explain/words.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { ActorId, RunId, ToolCallId } from "../../../src/protocol/identity/ids.ts";
import type { DoneReason } from "../../../src/protocol/run/event.ts";
import { statusOf, type RunState } from "../../../src/protocol/run/state.ts";

const GUIDE = readFileSync(join(import.meta.dirname, "../../../docs/gates.md"), "utf8");
const SAMPLE = readFileSync(join(import.meta.dirname, "../../../docs/audit.md"), "utf8");
const AT = "2026-11-27T08:00:00.000Z";

function stateOf(change: Partial<RunState> = {}): RunState {
  return {
    runId: "run_1" as RunId,
    status: "completed",
    reason: "stop",
    model: "m",
    steps: 1,
    recoveries: 0,
    toolCalls: [
      {
        toolCallId: "call_1" as ToolCallId,
        invocationId: "inv_1",
        name: "desk__refund",
        version: "1.0.0",
        step: 1,
        state: "FAILED_FINAL",
        outcome: "SEMANTIC_INVALIDITY",
        attempts: 1,
        startedAt: AT,
      },
    ],
    usage: { inputTokens: 1, outputTokens: 2 },
    timestamps: { createdAt: AT, endedAt: AT },
    ...change,
  };
}

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
    const text = explainRun(stateOf(), [refusedBy(gate)]).join("\n");
    expect(text).toContain(`the gate ${gate} ended it, because ${GATE_WORDS.get(gate)}`);
  }
});

test("docs/audit.md shows what is printed", () => {
  const [, id = ""] = /^(run_\w+): completed$/m.exec(SAMPLE) ?? [];
  const runId = id as RunId;
  const [begun, ended, called] = ["39.044", "39.592", "39.365"].map(
    (seconds) => `2026-11-27T07:26:${seconds}Z`,
  ) as [string, string, string];
  const [call] = stateOf().toolCalls;
  if (!call) throw new Error("there is no call");
  const state = stateOf({
    runId,
    model: "offline",
    steps: 2,
    toolCalls: [{ ...call, name: "core__calculate", state: "COMPLETED", outcome: "SUCCESS" }],
    usage: { inputTokens: 200, outputTokens: 12 },
    timestamps: { createdAt: begun, endedAt: ended },
  });
  const developer = { actorId: "user:developer" as ActorId };
  const assistant = { assistantId: "default", assistantRevision: 1 };
  const told = explainRun(state, [
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
    const told = explainRun(stateOf({ status: statusOf(reason, false), reason }), []);
    expect(told[1]).toBe(`  ${words}`);
  }
  const error = { code: "budget_exhausted", message: "The run has used up its budget: time." };
  const [first, second] = explainRun(stateOf({ status: "failed", reason: "error", error }), []);
  expect([first, second]).toEqual(["run_1: failed, budget_exhausted", `  ${error.message}`]);
  const { reason: _reason, ...open } = stateOf({ status: "waiting" });
  expect(explainRun(open, [])[1]).toContain("It waits");
});

test("what a provider or a model wrote moves no terminal", () => {
  const hostile = "\u001b[2J\u001b]0;owned\u0007\u202egone\r\n";
  const [call] = stateOf().toolCalls;
  if (!call) throw new Error("there is no call");
  const state = stateOf({ toolCalls: [{ ...call, name: hostile }] });
  const failed = {
    action: "model.failed",
    at: AT,
    model: "m",
    status: 500,
    detail: hostile,
  } as const;
  const told = explainRun(state, [failed, refusedBy("policy")]);
  expect(told.join("")).toContain("owned");
  for (const line of told) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("names that this version does not know are told as they are, and hide nothing", () => {
  const entry = (action: string) => ({ action, at: AT }) as unknown as AuditEntry;
  const odd = stateOf({ reason: "constructor" as DoneReason });
  const told = explainRun(odd, [
    entry("run.\u001bmoved"),
    entry("toString"),
    refusedBy("__proto__"),
  ]);
  expect(told[1]).toBe("  constructor");
  expect(told.join("\n")).toContain(`${AT} toString`);
  expect(told.join("\n")).toContain("the gate __proto__ ended it, because it refused");
  for (const line of told) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("an answer of another shape is refused by the name of its field", async () => {
  const answers: Record<string, unknown> = { "/v1/audit": { records: [] } };
  const send = (({ path }: { path: string }) => {
    const body = answers[path.split("?")[0] ?? ""];
    return Promise.resolve({ kind: "ok", body });
  }) as unknown as Send;
  const { runId, ...rest } = stateOf();
  answers["/v1/runs/run_1"] = { ...rest, runId, toolCalls: [{ name: 7 }] };
  await expect(readRun(send, "run_1")).rejects.toThrow("toolCalls.0.invocationId");
  answers["/v1/runs/run_1"] = stateOf();
  answers["/v1/audit"] = { records: [{ entry: { action: "run.started" } }] };
  await expect(readRun(send, "run_1")).rejects.toThrow("records.0.entry.at");
  answers["/v1/audit"] = {};
  expect(await readRun(send, "run_1")).toEqual({ state: stateOf(), entries: [] });
});
