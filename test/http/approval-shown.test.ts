import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ApprovalView } from "../../src/protocol/approval/view.ts";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { invoke, read } from "../shared/invoke.ts";
import {
  APPROVE,
  askFor,
  askNobody,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  useApprovalLab,
  viewOf,
} from "../shared/people.ts";
import { crash, untilState } from "../shared/run-object.ts";
import { send, stateOf, type Caller } from "../shared/worker.ts";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import { openShop, shop } from "../workers/lab-shop.ts";

useApprovalLab();
beforeEach(openShop);
afterEach(() => changeGuildPolicy(GUILD_POLICY));

const askToRefund = () => askFor([callOf("lab__refund", { order: "boots" })]);

/** Approves a question, and returns the one that takes its place. */
async function approveAgain(
  { runId, approvalId }: { readonly runId: string; readonly approvalId: string },
  people: readonly Caller[] = ["ann"],
): Promise<{ readonly next: string; readonly view: ApprovalView }> {
  for (const person of people) {
    expect((await decide(approvalId, person, APPROVE)).status).toBe(200);
  }
  const next = approvalId.replace(/\d+$/, (generation) => String(Number(generation) + 1));
  await untilState(runId, { status: "waiting", toolCalls: [{ approvalId: next }] }, "ann");
  return { next, view: await viewOf(next, "ann") };
}

/** The line that marks a changed price. */
const PRICE = {
  field: "changedShown",
  label: "Changed: Before state › Price",
  text: "was 10.46, is now 39.54",
};

describe("what an approver saw and what is charged", () => {
  test("are the same: a price that rose while the question was open asks again, and marks it", async () => {
    const asked = await askToRefund();
    shop.price = 39.54;
    const { next, view } = await approveAgain(asked);
    expect(moved).toEqual([]);
    expect(await viewOf(asked.approvalId, "ann")).toMatchObject({
      status: "superseded",
      supersededBecause: "shown_changed",
      supersededBy: next,
    });
    expect(view).toMatchObject({
      approvals: 0,
      packet: { beforeState: { price: 39.54 } },
      changedShown: [
        { pointer: "/consequence", before: "10.46 EUR leave, 3 people wait." },
        { pointer: "/beforeState/price", before: 10.46, after: 39.54 },
        { pointer: "/afterState/refund", before: 10.46, after: 39.54 },
      ],
    });
    expect(view.lines.slice(0, 3)).toContainEqual(expect.objectContaining(PRICE));
    // Each value that changed says where it stands what it was; nothing else does.
    const marked = view.lines.filter(({ was }) => was !== undefined);
    expect(marked.map(({ field, text, was }) => [field, text, was])).toEqual([
      ["consequence", expect.any(String), "10.46 EUR leave, 3 people wait."],
      ["beforeState", "39.54", "10.46"],
      ["afterState", "39.54", "10.46"],
    ]);
    await decide(next, "ann", APPROVE);
    await ended(asked.runId);
    expect(moved).toEqual(["39.54 for boots"]);
  });

  test("all votes fall: two people agreed to another price", async () => {
    const dual = { tools: ["lab__refund"], pattern: "dual_control" };
    await changeGuildPolicy({ ...GUILD_POLICY, approvals: [dual] });
    const asked = await askToRefund();
    await decide(asked.approvalId, "bob", APPROVE);
    shop.price = 39.54;
    const { next, view } = await approveAgain(asked, ["cat"]);
    expect([view.votes, view.required, moved]).toEqual([[], 2, []]);
    await decide(next, "bob", APPROVE);
    expect(moved).toEqual([]);
    await decide(next, "cat", APPROVE);
    await ended(asked.runId);
    expect(moved).toEqual(["39.54 for boots"]);
  });

  test.each([
    ["nothing changes", {}],
    ["what may drift changes, and the text that names it", { queue: 90 }],
    ["what nobody sees changes", { cost: 90 }],
  ])("one question is enough when %s, and the preview runs twice", async (_, change) => {
    const { runId, approvalId } = await askToRefund();
    const { lines } = await viewOf(approvalId, "ann");
    expect(lines).toContainEqual(
      expect.objectContaining({
        field: "drifting",
        label: "May change: queue",
        text: "the queue says nothing about this order",
      }),
    );
    Object.assign(shop, change);
    await decide(approvalId, "ann", APPROVE);
    const { toolCalls } = await ended(runId);
    expect([moved, shop.previews, toolCalls.length]).toEqual([["10.46 for boots"], 2, 1]);
    expect(await viewOf(approvalId, "ann")).toMatchObject({ status: "approved" });
  });

  test("a preview that fails after the approval is a stale question and no effect", async () => {
    const asked = await askToRefund();
    shop.preview = "throws";
    const { next, view } = await approveAgain(asked);
    expect(moved).toEqual([]);
    expect(view.packet).toMatchObject({ beforeState: null, afterState: null });
    const text = "was 10.46, is now absent";
    expect(view.lines).toContainEqual(expect.objectContaining({ ...PRICE, text }));
    await decide(next, "ann", { decision: "reject" });
    await ended(asked.runId);
    expect(moved).toEqual([]);
  });

  test("a write is repeated without a question after its own effect changed the state", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__refund", { order: "lost" })]);
    await decide(approvalId, "ann", APPROVE);
    const { toolCalls } = await ended(runId);
    expect(toolCalls).toMatchObject([{ state: "COMPLETED", attempts: 2 }]);
    expect([moved, shop.price]).toEqual([["10.46 for lost"], 0]);
  });

  test("a crash between the vote and the call does not skip the comparison", async () => {
    const asked = await askToRefund();
    shop.preview = "holds";
    await decide(asked.approvalId, "ann", APPROVE);
    await expect.poll(() => shop.previews).toBe(2);
    shop.preview = "answers";
    shop.price = 39.54;
    await crash(asked.runId);
    await fetch(releaseUrl("shop"));
    const next = asked.approvalId.replace(/1$/, "2");
    await untilState(asked.runId, { status: "waiting", toolCalls: [{ approvalId: next }] }, "ann");
    expect(moved).toEqual([]);
    await crash(asked.runId);
    await decide(next, "ann", APPROVE);
    await ended(asked.runId);
    expect(moved).toEqual(["39.54 for boots"]);
  });

  test("a state that never stands still ends the call after four questions", async () => {
    const { runId, approvalId: first } = await askToRefund();
    shop.preview = "rises";
    let approvalId = first;
    for (const _ of [1, 2, 3]) approvalId = (await approveAgain({ runId, approvalId })).next;
    await decide(approvalId, "ann", APPROVE);
    const { toolCalls } = await ended(runId);
    expect([toolCalls[0]?.outcome, toolCalls.length, moved]).toEqual(["STALE_STATE", 1, []]);
  });

  const EDIT = { ...APPROVE, arguments: { order: "boots", pieces: 2 } };

  test("an editor's vote counts for the edit while what the editor saw still holds", async () => {
    const { runId, approvalId } = await askToRefund();
    shop.queue = 90;
    await decide(approvalId, "ann", EDIT);
    await ended(runId);
    expect(moved).toEqual(["20.92 for boots"]);
  });

  test("an editor's vote falls when what the editor saw has changed", async () => {
    const asked = await askToRefund();
    shop.price = 39.54;
    await decide(asked.approvalId, "ann", EDIT);
    const next = asked.approvalId.replace(/1$/, "2");
    await untilState(asked.runId, { status: "waiting", toolCalls: [{ approvalId: next }] }, "ann");
    const view = await viewOf(next, "ann");
    expect([view.votes, view.packet.afterState, moved]).toEqual([[], { refund: 79.08 }, []]);
    expect(view.lines).toContainEqual(expect.objectContaining(PRICE));
    expect(JSON.stringify(view.changedShown)).not.toContain("79.08");
    const pieces = { pointer: "/arguments/shown/pieces" };
    expect(view.changedByEdit).toContainEqual(expect.objectContaining({ ...pieces, after: 2 }));
    const edited = view.lines.filter(({ field }) => field === "arguments");
    expect(edited.map(({ text, was }) => [text, was])).toContainEqual(["2", null]);
    await decide(next, "ann", { decision: "reject" });
    await ended(asked.runId);
  });

  test("an undo asks again like any call", async () => {
    const sold = await read(
      await invoke("lab__sell", { order: "boots" }, { caller: "ann", key: '"sell"' }),
    );
    const path = `/v1/runs/${sold.runId}/invocations/inv_1/compensate`;
    const { runId } = await read(await send(path, { caller: "ann", method: "POST" }));
    const [call] = (await stateOf(runId, "ann")).toolCalls;
    shop.price = 39.54;
    const { next } = await approveAgain({ runId, approvalId: call?.approvalId ?? "none" });
    expect(moved).toEqual(["10.46 for boots"]);
    await decide(next, "ann", APPROVE);
    await ended(runId);
    expect(moved).toEqual(["10.46 for boots", "39.54 for boots"]);
  });
});

describe("an amount that the preview names", () => {
  const settle = callOf("lab__pay_order", { order: "boots" });
  const limited = (limits: object) => changeGuildPolicy({ ...GUILD_POLICY, ...limits });

  test.each([
    ["the run", { budgets: { maxFinancial: 20 } }],
    ["the tenant", { tenantBudgets: { maxFinancial: 20, windowSeconds: 60 } }],
  ])("counts in the limit of %s", async (_, limits) => {
    await limited(limits);
    shop.price = 39.54;
    const [over] = await askNobody([settle]);
    expect([over?.outcome, moved]).toEqual(["BUDGET_EXHAUSTED", []]);
    shop.price = 12;
    const calls = await askNobody([settle, { ...settle, id: "call_2" }]);
    expect(calls.map(({ outcome }) => outcome)).toEqual(["SUCCESS", "BUDGET_EXHAUSTED"]);
    expect(moved).toEqual(["12 for boots"]);
  });

  test.each([
    ["is missing", { preview: "throws" }],
    ["is no number", { price: {} }],
  ])("stops the call when it %s", async (_, change) => {
    Object.assign(shop, change);
    const [call] = await askNobody([settle]);
    expect([call?.outcome, moved]).toEqual(["DEPENDENCY_UNAVAILABLE", []]);
  });

  test("stops an approved call whose amount rose beyond the limit, and asks nobody again", async () => {
    const approvals = [{ tools: ["lab__pay_order"], pattern: "user_consent" }];
    const asking = { requireApprovalForClasses: ["MEDIUM_RISK_WRITE"], approvals };
    await limited({ ...asking, budgets: { maxFinancial: 20 } });
    const { runId, approvalId } = await askFor([settle]);
    shop.price = 39.54;
    await decide(approvalId, "ann", APPROVE);
    const { toolCalls } = await ended(runId);
    expect([toolCalls[0]?.outcome, shop.previews, moved]).toEqual(["BUDGET_EXHAUSTED", 2, []]);
  });
});
