import { beforeEach, describe, expect, test } from "vitest";
import type { HookedCall } from "../../src/capabilities/hook.ts";
import { checked, moved } from "../workers/lab-approvals.ts";
import { labHooks } from "../workers/lab-hooks.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  decide,
  ended,
  useApprovalLab,
  viewOf,
} from "../shared/people.ts";
import { rowsOf, transcriptOf, untilState } from "../shared/run-object.ts";
import { chat, runIdOf } from "../shared/worker.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

useApprovalLab();

beforeEach(() => {
  labHooks.length = 0;
  checked.length = 0;
});

const STOP = { code: "not_today", message: "no such calls today", endsRun: true };
const DONE = { text: ["done"] };

describe("a veto that ends the run", () => {
  test("withdraws the calls that have not begun, and asks no model again", async () => {
    labHooks.push({ before: async ({ toolId }) => (toolId === "lab__archive" ? STOP : undefined) });
    const calls = [
      callOf("lab__notify", { what: "hello" }, "call_1"),
      callOf("lab__archive", { what: "a" }, "call_2"),
      callOf("lab__publish", { what: "b" }, "call_3"),
    ];
    const runId = runIdOf(await chat([{ calls }, DONE], "ann"));
    const state = await untilState(runId, { status: "failed" }, "ann");
    expect(state.error?.code).toBe("ended_by_hook");
    expect(state.toolCalls.map(({ outcome }) => outcome)).toEqual([
      "STALE_STATE",
      "POLICY_VIOLATION",
      "STALE_STATE",
    ]);
    const answers = (await transcriptOf(runId, "ann")).filter(({ role }) => role === "assistant");
    expect([moved, answers.length]).toEqual([[], 1]);
    const [finished] = await rowsOf(
      runId,
      "SELECT body FROM events WHERE body LIKE '%step_finished%'",
    );
    expect(finished?.["body"]).toContain('"continued":false');
  });

  test("closes the approval of a call that waits, whose approval lets nothing run", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    labHooks.push({ before: async () => STOP });
    await decide(approvalId, "cat", APPROVE);
    const state = await untilState(runId, { status: "failed" }, "ann");
    expect([state.error?.code, moved]).toEqual(["ended_by_hook", []]);
  });

  test("records a call that has begun, also where the veto comes after it", async () => {
    labHooks.push({ after: async () => STOP });
    const { runId, approvalId } = await askFor([
      callOf("lab__notify", { what: "hello" }, "call_1"),
      callOf("lab__archive", { what: "a" }, "call_2"),
    ]);
    await decide(approvalId, "ann", APPROVE);
    const state = await untilState(runId, { status: "failed" }, "ann");
    expect(state.toolCalls).toMatchObject([
      { state: "COMPLETED", outcome: "POLICY_VIOLATION" },
      { outcome: "STALE_STATE" },
    ]);
    expect([state.error?.code, moved]).toEqual(["ended_by_hook", ["notified: hello"]]);
    const approvals = await rowsOf(runId, "SELECT status FROM approvals ORDER BY invocation");
    expect(approvals).toEqual([{ status: "approved" }, { status: "withdrawn" }]);
  });

  test("and one that does not, leaves the run going on", async () => {
    const { endsRun: _, ...veto } = STOP;
    labHooks.push({ before: async () => veto });
    const calls = [callOf("lab__notify", { what: "hello" })];
    const runId = runIdOf(await chat([{ calls }, DONE], "ann"));
    expect((await ended(runId)).toolCalls).toMatchObject([{ outcome: "POLICY_VIOLATION" }]);
    expect(moved).toEqual([]);
  });
});

test("hooks and checkState see the caller's roles and who approved", async () => {
  const seen: HookedCall[] = [];
  labHooks.push({
    before: async (call) => void seen.push(call),
    after: async (call) => void seen.push(call),
  });
  const { runId, approvalId } = await askToPay({}, "eve");
  for (const person of ["bob", "cat"] as const) await decide(approvalId, person, APPROVE);
  await ended(runId, "eve");
  const callerRoles = ["operator", "approver", "compliance"];
  const approvers = [
    { actorId: "user:bob", roles: ["operator"] },
    { actorId: "user:cat", roles: ["approver"] },
  ];
  const asked = { callerRoles, approvers: [] };
  const approved = { callerRoles, approvers };
  expect(seen.map(({ context }) => context)).toMatchObject([asked, approved, approved]);
  expect(checked).toMatchObject([asked, approved]);
  expect(Object.isFrozen(seen[1]?.context.approvers[0]?.roles)).toBe(true);
  expect((await viewOf(approvalId, "bob")).consumedAt).toBeDefined();
  expect(moved).toEqual(["40 to bakery"]);
});
