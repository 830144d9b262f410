import { beforeEach, describe, expect, test } from "vitest";
import type { Escalation } from "../../src/protocol/escalation/escalation.ts";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  askNobody,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  openOf,
  readApproval,
  REJECT,
  useApprovalLab,
  viewOf,
  type Asked,
  type Call,
} from "../shared/people.ts";
import { crash, untilState } from "../shared/run-object.ts";
import { auditOf } from "../shared/tenant-notices.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { postChat, runIdOf, send, type Caller } from "../shared/worker.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

useApprovalLab();

/** One write, and two after a raise. */
const RAISABLE = {
  ...GUILD_POLICY,
  approvals: [],
  budgets: { maxWrites: 1, maxExternal: 1 },
  budgetRaises: { upTo: { maxWrites: 2, maxExternal: 2 } },
};
beforeEach(() => changeGuildPolicy(RAISABLE));

const archives = (count: number): readonly Call[] =>
  Array.from({ length: count }, (_, at) =>
    callOf("lab__archive", { what: `record ${at + 1}` }, `call_${at + 1}`),
  );

/** Starts a run whose second write has no room. */
const askTwice = (caller: Caller = "ann"): Promise<Asked> => askFor(archives(2), caller);

async function outcomesOf(runId: string): Promise<readonly unknown[]> {
  const { toolCalls } = await ended(runId);
  return toolCalls.map(({ outcome }) => outcome);
}

async function refusalOf(answer: Promise<Response>): Promise<readonly unknown[]> {
  const { status, code } = await (await answer).json<Record<string, unknown>>();
  return [status, code];
}

const stepsOf = (...calls: readonly (readonly Call[])[]): readonly ScriptedStep[] => [
  ...calls.map((one) => ({ calls: one })),
  { text: ["done"] },
];

async function escalationsOf(runId: string): Promise<readonly Escalation[]> {
  const answers = ["open", "settled"].map(async (state) => {
    const response = await send(`/v1/escalations?state=${state}&reason=budget_request`, {
      caller: "chief",
    });
    return (await response.json<{ escalations: readonly Escalation[] }>()).escalations;
  });
  return (await Promise.all(answers)).flat().filter((one) => one.runId === runId);
}

describe("a limit that the policy lets people raise", () => {
  test("waits before the refusal, over a crash; somebody else raises it once for the run", async () => {
    const { runId, approvalId } = await askFor(archives(3));
    expect(moved).toEqual(["archived: record 1"]);
    const view = await viewOf(approvalId, "bob");
    expect(view).toMatchObject({
      status: "pending",
      asks: "raise",
      requirements: [{ pattern: "operator_review", roles: ["operator"], excludesRequester: true }],
      packet: {
        raise: { budget: "writes", source: "policy", limit: 1, used: 1, needs: 1, to: 2 },
      },
    });
    expect(view.lines[0]).toMatchObject({
      field: "raise",
      text:
        "the limit of this run for calls that write within the deployment, from 1 to 2; " +
        "1 used so far, this call needs 1",
    });
    await crash(runId);
    expect((await decide(approvalId, "bob", APPROVE)).status).toBe(200);
    expect(await outcomesOf(runId)).toEqual(["SUCCESS", "SUCCESS", "BUDGET_EXHAUSTED"]);
    expect(moved).toEqual(["archived: record 1", "archived: record 2"]);
  });

  test("is an escalation for operators until it is decided, and the audit log says who raised what", async () => {
    const { runId, approvalId } = await askTwice();
    await expect
      .poll(() => escalationsOf(runId))
      .toMatchObject([
        {
          state: "open",
          toolId: "lab__archive",
          invocationId: "inv_2",
          requestedBy: "user:ann",
          actions: ["take", "decide"],
          href: `/v1/approvals/${approvalId}`,
        },
      ]);
    await decide(approvalId, "bob", APPROVE);
    await ended(runId);
    const settled = { state: "settled", settledBy: "user:bob", settledAs: "approved", count: 1 };
    await expect.poll(() => escalationsOf(runId)).toMatchObject([settled]);
    const { items } = await auditOf("guild");
    const about = items
      .map(({ entry }) => entry)
      .filter((entry) => entry.approvalId === approvalId);
    expect(about).toMatchObject([
      {
        action: "approval.requested",
        decision: "raise",
        reason: expect.stringContaining("1 to 2"),
      },
      { action: "approval.voted", actorId: "user:bob", decision: "approve" },
      { action: "approval.closed", actorId: "user:bob", decision: "approved" },
      { action: "approval.consumed" },
    ]);
  });

  test("approves no call: the consent of the person follows, with its own terms", async () => {
    const calls = ["Ada", "Bo"].map((what, at) => callOf("lab__notify", { what }, `call_${at}`));
    const { runId, approvalId } = await askFor(calls);
    await decide(approvalId, "ann", APPROVE);
    await expect.poll(() => moved).toEqual(["notified: Ada"]);
    const raise = await waitsFor(runId, approvalId);
    expect(await viewOf(raise, "bob")).toMatchObject({ asks: "raise", toolId: "lab__notify" });
    await decide(raise, "bob", APPROVE);
    const consent = await waitsFor(runId, raise);
    expect(moved).toEqual(["notified: Ada"]);
    const view = await viewOf(consent, "ann");
    expect(view).toMatchObject({ requirements: [{ pattern: "user_consent" }] });
    expect([view.asks, view.changedTerms]).toEqual([undefined, undefined]);
    await decide(consent, "ann", APPROVE);
    expect(await outcomesOf(runId)).toEqual(["SUCCESS", "SUCCESS"]);
    expect(moved).toEqual(["notified: Ada", "notified: Bo"]);
  });

  test("that people refuse ends the call, and nobody is asked about that limit again", async () => {
    const { runId, approvalId } = await askFor(archives(3));
    await decide(approvalId, "bob", REJECT);
    const { toolCalls } = await ended(runId);
    expect(toolCalls.map(({ outcome }) => outcome)).toEqual([
      "SUCCESS",
      "BUDGET_EXHAUSTED",
      "BUDGET_EXHAUSTED",
    ]);
    expect(moved).toEqual(["archived: record 1"]);
    expect(openOf({ toolCalls } as Parameters<typeof openOf>[0]).length).toBeLessThan(2);
  });

  test.each<[string, object]>([
    ["the policy names no raise", { budgetRaises: undefined }],
    ["a raise would not be enough", { budgetRaises: { upTo: { maxWrites: 1 } } }],
    ["another limit may be raised", { budgetRaises: { upTo: { maxReads: 9 } } }],
    [
      "the tenant has no room either",
      { tenantBudgets: { ...GUILD_POLICY.tenantBudgets, maxWrites: 1, windowSeconds: 3_601 } },
    ],
  ])("asks nobody where %s", async (_, change) => {
    await changeGuildPolicy({ ...RAISABLE, ...change });
    const calls = await askNobody(archives(2));
    expect(calls.map(({ outcome }) => outcome)).toEqual(["SUCCESS", "BUDGET_EXHAUSTED"]);
    expect(moved).toHaveLength(1);
  });
});

describe("attacks on a raise", () => {
  test("the person whose run it is does not grant it", async () => {
    const { runId, approvalId } = await askTwice();
    expect(await refusalOf(decide(approvalId, "ann", APPROVE))).toEqual([
      403,
      "approver_not_allowed",
    ]);
    expect(await viewOf(approvalId, "bob")).toMatchObject({ status: "pending" });
    await decide(approvalId, "ann", REJECT);
    expect(await outcomesOf(runId)).toEqual(["SUCCESS", "BUDGET_EXHAUSTED"]);
    expect(moved).toHaveLength(1);
  });

  test("an operator does not raise the limit of their own run, under any spelling of their id", async () => {
    await changeGuildPolicy({
      ...RAISABLE,
      budgetRaises: { upTo: { maxWrites: 2 }, roles: ["operator", "approver"] },
    });
    const { runId, approvalId } = await askTwice("eve");
    expect(await refusalOf(decide(approvalId, "eve", APPROVE))).toEqual([
      403,
      "approver_not_allowed",
    ]);
    expect(await refusalOf(decide(approvalId, "EVE", APPROVE))).toEqual([
      404,
      "approval_not_found",
    ]);
    await decide(approvalId, "eve", REJECT);
    await ended(runId, "eve");
    expect(moved).toHaveLength(1);
  });

  test.each<Caller>(["cat", "bot", "aide", "scribe", "outsider"])(
    "%s has no part in it",
    async (caller) => {
      const { approvalId } = await askTwice();
      const unknown = await refusalOf(readApproval(`${approvalId.slice(0, -4)}_9_1`, caller));
      expect(await refusalOf(decide(approvalId, caller, APPROVE))).toEqual(unknown);
      expect(moved).toHaveLength(1);
    },
  );

  test.each<[string, readonly unknown[], object]>([
    ["other arguments", [422, "arguments_refused"], { ...APPROVE, arguments: { what: "all" } }],
    ["answer", [422, "arguments_refused"], { decision: "answer", answer: { to: 99 } }],
    ["consent that lasts", [403, "approver_not_allowed"], { ...APPROVE, lasting: { calls: 5 } }],
  ])("it takes no %s", async (_, refused, body) => {
    const { approvalId } = await askTwice();
    expect(await refusalOf(decide(approvalId, "bob", body))).toEqual(refused);
    expect(await viewOf(approvalId, "bob")).toMatchObject({ status: "pending" });
    expect(moved).toHaveLength(1);
  });

  test("a policy that lets nobody raise any more closes the request", async () => {
    const { runId, approvalId } = await askTwice();
    await changeGuildPolicy({ ...RAISABLE, budgetRaises: undefined });
    expect(await refusalOf(decide(approvalId, "bob", APPROVE))).toEqual([409, "approval_closed"]);
    expect(await outcomesOf(runId)).toEqual(["SUCCESS", "BUDGET_EXHAUSTED"]);
    expect(moved).toHaveLength(1);
  });

  test("a policy that has others raise closes the request, and asks those", async () => {
    const { runId, approvalId } = await askTwice();
    const budgetRaises = { ...RAISABLE.budgetRaises, roles: ["compliance"] };
    await changeGuildPolicy({ ...RAISABLE, budgetRaises });
    expect(await refusalOf(decide(approvalId, "bob", APPROVE))).toEqual([409, "approval_closed"]);
    const again = await waitsFor(runId, approvalId);
    const asked = await viewOf(again, "dan");
    expect(asked.requirements.map(({ roles }) => roles)).toEqual([["operator"], ["compliance"]]);
    await decide(again, "dan", APPROVE);
    expect(await viewOf(again, "dan")).toMatchObject({ status: "pending" });
    await decide(again, "bob", APPROVE);
    expect(await outcomesOf(runId)).toEqual(["SUCCESS", "SUCCESS"]);
    await expect.poll(() => escalationsOf(runId)).toMatchObject([{ state: "settled", count: 1 }]);
  });

  test("a granted raise counts only while the current policy allows it", async () => {
    await changeGuildPolicy({ ...RAISABLE, budgetRaises: { upTo: { maxWrites: 3 } } });
    const notice = callOf("lab__notify", { what: "Ada" }, "call_8");
    const last = callOf("lab__archive", { what: "record 9" }, "call_9");
    const content = script(...stepsOf(archives(2), [notice], [last]));
    const runId = runIdOf(await postChat({ messages: [{ role: "user", content }] }, "ann"));
    const raise = await waitsFor(runId);
    await decide(raise, "bob", APPROVE);
    const consent = await waitsFor(runId, raise);
    await changeGuildPolicy({ ...RAISABLE, budgetRaises: { upTo: { maxReads: 9 } } });
    await decide(consent, "ann", APPROVE);
    const [, , , refused] = await outcomesOf(runId);
    expect(refused).toBe("BUDGET_EXHAUSTED");
    expect(moved).toHaveLength(3);
  });

  test("whoever edits a call grants no raise by it, and decides about the call again", async () => {
    await changeGuildPolicy({
      ...RAISABLE,
      allowedTools: ["lab__wire"],
      approvals: [{ tools: ["lab__wire"], pattern: "operator_review" }],
      budgets: { maxFinancial: 100 },
      budgetRaises: { upTo: { maxFinancial: 1_000 } },
    });
    const { runId, approvalId } = await askFor([callOf("lab__wire", { amount: 50 })]);
    await decide(approvalId, "bob", { ...APPROVE, arguments: { amount: 500 } });
    const raise = await waitsFor(runId, approvalId);
    const text = expect.stringContaining("money that calls move, from 100 USD to 1000 USD");
    const view = await viewOf(raise, "bob");
    expect(view).toMatchObject({ status: "pending", asks: "raise", votes: [] });
    expect(view.lines[0]).toMatchObject({ text });
    await decide(raise, "bob", APPROVE);
    const again = await waitsFor(runId, raise);
    expect(await viewOf(again, "bob")).toMatchObject({ status: "pending", votes: [] });
    expect(moved).toEqual([]);
    await decide(again, "bob", APPROVE);
    await ended(runId);
    expect(moved).toEqual(["wired 500"]);
  });

  test("two calls at once share one request, and the raise gives room to one of them alone", async () => {
    const { runId, approvalId } = await askFor(archives(4));
    await decide(approvalId, "bob", APPROVE);
    const outcomes = await outcomesOf(runId);
    expect(outcomes.filter((outcome) => outcome === "SUCCESS")).toHaveLength(2);
    expect(moved).toHaveLength(2);
  });
});

describe("a limit that the person set for a run", () => {
  const startLimited = (caller: Caller, limits: object): Promise<Response> =>
    postChat(
      { messages: [{ role: "user", content: script(...stepsOf(archives(3))) }], limits },
      caller,
    );

  test("waits for that person alone, who lifts it up to the policy's", async () => {
    await changeGuildPolicy({ ...RAISABLE, budgets: { maxWrites: 2 }, budgetRaises: undefined });
    const runId = runIdOf(await startLimited("ann", { maxWrites: 1 }));
    const approvalId = await waitsFor(runId);
    const own = { source: "person", limit: 1, to: 2 };
    expect(await viewOf(approvalId, "ann")).toMatchObject({
      asks: "raise",
      packet: { raise: own },
    });
    expect(await refusalOf(decide(approvalId, "bob", APPROVE))).toEqual([
      404,
      "approval_not_found",
    ]);
    await decide(approvalId, "ann", APPROVE);
    expect(await outcomesOf(runId)).toEqual(["SUCCESS", "SUCCESS", "BUDGET_EXHAUSTED"]);
    expect(moved).toHaveLength(2);
    expect(await escalationsOf(runId)).toEqual([]);
  });

  test("raises nothing above the policy", async () => {
    await changeGuildPolicy({ ...RAISABLE, budgetRaises: undefined });
    const runId = runIdOf(await startLimited("ann", { maxWrites: 9 }));
    expect(await outcomesOf(runId)).toEqual(["SUCCESS", "BUDGET_EXHAUSTED", "BUDGET_EXHAUSTED"]);
    expect(moved).toHaveLength(1);
  });
});

/** Waits until a run waits for an approval other than the last one; answers its id. */
async function waitsFor(runId: string, last?: string): Promise<string> {
  const newest = async (): Promise<string | undefined> => {
    const open = openOf(await untilState(runId, { status: "waiting" }, "ann"));
    return open.find((id) => id !== last);
  };
  await expect.poll(newest).toBeDefined();
  return (await newest()) ?? "none";
}
