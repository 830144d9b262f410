import { describe, expect, test } from "vitest";
import { frozen, moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  decide,
  ended,
  openOf,
  readApproval,
  REJECT,
  viewOf,
  useApprovalLab,
} from "../shared/people.ts";
import {
  cancel,
  crash,
  deadlinesOf,
  refusalOf,
  ring,
  rowsOf,
  untilState,
} from "../shared/run-object.ts";
import { chunksOf, send, stateOf } from "../shared/worker.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

useApprovalLab();

/** What the call of a run came to. */
async function outcomeOf(runId: string, call = 0): Promise<unknown> {
  return (await stateOf(runId, "ann")).toolCalls[call]?.outcome;
}

describe("asking", () => {
  test("a call that needs approval waits, and states for whom, about what and until when", async () => {
    const { runId, approvalId } = await askToPay();
    const { toolCalls } = await stateOf(runId, "ann");
    expect(toolCalls).toMatchObject([{ state: "PENDING", approvalId }]);
    const view = await viewOf(approvalId, "bob");
    expect(view).toMatchObject({
      approvalId,
      runId,
      toolId: "lab__transfer",
      status: "pending",
      requirements: [{ pattern: "dual_control", required: 2, approvals: 0 }],
      required: 2,
      approvals: 0,
      requestedBy: "user:ann",
      riskClass: "CRITICAL_MUTATION",
    });
    expect(toolCalls[0]?.awaitsApprovalUntil).toBe(view.expiresAt);
    expect(moved).toEqual([]);
    await cancel(runId, "ann");
  });

  test("the stream names the approvers, ends requiring action, and continues after the decision", async () => {
    const { runId, approvalId, response } = await askFor([
      callOf("lab__notify", { what: "hello" }),
    ]);
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
    await ended(runId);
    const whole = await send(`/v1/runs/${runId}/events`, { caller: "ann" });
    const chunks = await chunksOf(whole);
    const asked = chunks.find(({ data }) => JSON.stringify(data ?? 0).includes("approval-request"));
    expect(asked).toMatchObject({
      data: [{ approval: { approvalId }, packet: { traceId: runId } }],
    });
    const updates = chunks.filter(({ data }) =>
      JSON.stringify(data ?? 0).includes("approval-update"),
    );
    expect(updates.map(({ data }) => (data as never[])[0])).toMatchObject([
      { approval: { status: "approved", approvals: 1 } },
      { approval: { status: "approved" } },
    ]);
    expect(chunks.filter(({ type }) => type === "message-finish")).toMatchObject([
      { finishReason: "tool-calls" },
      { finishReason: "stop" },
    ]);
    await response.body?.cancel();
  });

  test("calls that need no approval run first", async () => {
    const { runId, approvalId } = await askFor([
      callOf("lab__transfer", { to: "bakery", amount: 1 }, "call_1"),
      callOf("lab__write_note", { text: "x" }, "call_2"),
    ]);
    await untilState(runId, { toolCalls: [{ state: "PENDING" }, { state: "COMPLETED" }] }, "ann");
    await decide(approvalId, "bob", APPROVE);
    await decide(approvalId, "cat", APPROVE);
    await ended(runId);
    expect(moved).toEqual(["1 to bakery"]);
  });

  test("the model is shown tools that need approval", async () => {
    const response = await send("/v1/tools", { caller: "ann" });
    const { tools } = await response.json<{ tools: { name: string }[] }>();
    expect(tools.map(({ name }) => name)).toContain("lab__transfer");
  });
});

describe("deciding", () => {
  test("two people approve, and the tool runs once", async () => {
    const { runId, approvalId } = await askToPay();
    const first = await decide(approvalId, "bob", APPROVE);
    expect(await first.json()).toMatchObject({ status: "pending", approvals: 1 });
    expect(moved).toEqual([]);
    const second = await decide(approvalId, "cat", APPROVE);
    expect(await second.json()).toMatchObject({ status: "approved", approvals: 2 });
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
    expect(await viewOf(approvalId, "bob")).toHaveProperty("consumedAt");
  });

  test("one person's vote counts once, and its repeats get the same answer", async () => {
    const { runId, approvalId } = await askToPay();
    for (let times = 0; times < 3; times++) {
      const answer = await decide(approvalId, "bob", APPROVE);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ status: "pending", approvals: 1 });
    }
    expect(await viewOf(approvalId, "bob")).toMatchObject({ mayDecide: true, said: "approve" });
    expect(await viewOf(approvalId, "cat")).not.toHaveProperty("said");
    expect(moved).toEqual([]);
    await cancel(runId, "ann");
  });

  test("a rejection is told to the model with its reason, and the tool never runs", async () => {
    const { runId, approvalId } = await askToPay();
    const answer = await decide(approvalId, "bob", { ...REJECT, reason: "wrong account" });
    expect(await answer.json()).toMatchObject({ status: "rejected" });
    await ended(runId);
    expect(moved).toEqual([]);
    expect(await outcomeOf(runId)).toBe("PERMISSION_DENIED");
    const [row] = await rowsOf(runId, "SELECT ending FROM invocations");
    expect(JSON.stringify(row)).toContain("a person refused this call: wrong account");
  });

  test("a long reason is cut between characters", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", { ...REJECT, reason: `${"x".repeat(299)}\u{1f600} and more` });
    await ended(runId);
    const [row] = await rowsOf(runId, "SELECT ending FROM invocations");
    const { observation } = JSON.parse(row?.["ending"] as string) as { observation: object };
    expect(JSON.stringify(observation)).toContain("xxx");
    expect(JSON.stringify(observation)).not.toContain("\\ud83d");
  });

  test("what was rejected is not asked again in the same run", async () => {
    const { runId, approvalId } = await askFor([
      callOf("lab__notify", { what: "sale" }, "call_1"),
      callOf("lab__notify", { what: "sale" }, "call_2"),
    ]);
    await decide(approvalId, "ann", REJECT);
    const state = await untilState(runId, { toolCalls: [{ state: "FAILED_FINAL" }, {}] }, "ann");
    const [second] = openOf(state);
    if (second) await decide(second, "ann", REJECT);
    await ended(runId);
    expect(moved).toEqual([]);
  });

  test("a late approver gets the outcome", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", REJECT);
    const late = await decide(approvalId, "cat", APPROVE);
    expect(late.status).toBe(409);
    expect(await late.json()).toMatchObject({
      code: "approval_closed",
      approval: { status: "rejected", votes: [{ approverId: "user:bob", decision: "reject" }] },
    });
    await ended(runId);
    expect(moved).toEqual([]);
  });

  test("without a decision in time the alarm closes the approval, and the model continues without the call", async () => {
    const { runId, approvalId } = await askToPay();
    await rowsOf(
      runId,
      "UPDATE approvals SET body = json_set(body, '$.expiresAtMs', 1) WHERE invocation = 1",
    );
    await ring(runId, "approval");
    await ended(runId);
    expect(moved).toEqual([]);
    expect(await outcomeOf(runId)).toBe("CONFIRMATION_MISSING");
    const late = await decide(approvalId, "bob", APPROVE);
    expect(await late.json()).toMatchObject({ approval: { status: "expired" } });
  });

  test("a run that waits needs no loop, survives crashes, and keeps its deadline", async () => {
    const { runId, approvalId } = await askToPay();
    await crash(runId);
    const deadlines = await deadlinesOf(runId);
    expect(Object.keys(deadlines)).toContain("approval");
    expect(Object.keys(deadlines)).not.toContain("watchdog");
    await decide(approvalId, "bob", APPROVE);
    await crash(runId);
    await decide(approvalId, "cat", APPROVE);
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("a steering message withdraws the pending approval", async () => {
    const { runId, approvalId } = await askToPay();
    await send(`/v1/runs/${runId}/messages`, {
      caller: "ann",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ content: "never mind" }),
    });
    await ended(runId);
    expect(await viewOf(approvalId, "bob")).toMatchObject({ status: "withdrawn" });
    expect(await refusalOf(await decide(approvalId, "bob", APPROVE))).toEqual([
      409,
      "approval_closed",
    ]);
    expect(moved).toEqual([]);
  });

  test("a cancelled run withdraws its pending approvals", async () => {
    const { runId, approvalId } = await askToPay();
    await cancel(runId, "ann");
    expect((await decide(approvalId, "bob", APPROVE)).status).toBe(409);
    expect(await viewOf(approvalId, "bob")).toMatchObject({ status: "withdrawn" });
    expect(moved).toEqual([]);
  });
});

describe("every gate again", () => {
  test("a target that changed while people thought stops the call", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    frozen.add("bakery");
    await decide(approvalId, "cat", APPROVE);
    await ended(runId);
    expect(await outcomeOf(runId)).toBe("STALE_STATE");
    expect(moved).toEqual([]);
  });

  test("another tenant's approval answers as an unknown one", async () => {
    const { runId, approvalId } = await askToPay();
    const theirs = await readApproval(approvalId, "outsider");
    const unknown = await readApproval(`${approvalId.slice(0, -4)}_9_9`, "outsider");
    expect([theirs.status, await theirs.text()]).toEqual([unknown.status, await unknown.text()]);
    expect((await decide(approvalId, "outsider", APPROVE)).status).toBe(404);
    await cancel(runId, "ann");
  });
});
