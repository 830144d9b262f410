import { afterEach, describe, expect, test } from "vitest";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  REJECT,
  viewOf,
  useApprovalLab,
} from "../shared/people.ts";
import { refusalOf, rowsOf, untilState } from "../shared/run-object.ts";
import { bindings, send } from "../shared/worker.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

useApprovalLab();

afterEach(() => changeGuildPolicy(GUILD_POLICY));

/** Waits until the run requests the approval again, and returns its id. */
async function requestedAgain(runId: string, approvalId: string): Promise<string> {
  const next = approvalId.replace(/_1$/, "_2");
  await untilState(runId, { status: "waiting", toolCalls: [{ approvalId: next }] }, "ann");
  return next;
}

const THREE = {
  approvals: [{ tools: ["lab__transfer"], pattern: "dual_control", required: 3 }],
};

describe("a change of the policy that does not touch the call", () => {
  test.each([
    ["admits another page", { origins: ["https://other.example"] }],
    [
      "has a rule about another tool",
      { argumentRules: [{ tool: "lab__archive", field: "/what", must: { equal: "x" } }] },
    ],
    [
      "asks more people about other tools",
      { approvals: [{ tools: ["lab__peek"], pattern: "dual_control" }] },
    ],
    ["limits another class of calls", { budgets: { maxCritical: 100, maxReads: 7 } }],
    ["says who may call another tool", { callers: [{ tools: ["lab__peek"], roles: ["clerk"] }] }],
    ["grants a connection", { grants: [{ connectionId: "service", tools: ["lab__peek"] }] }],
  ])("leaves the approval standing: it %s", async (_, change) => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    await changeGuildPolicy({ ...GUILD_POLICY, ...change });
    expect(await viewOf(approvalId, "cat")).toMatchObject({ status: "pending", approvals: 1 });
    const last = await decide(approvalId, "cat", APPROVE);
    expect([last.status, await last.json()]).toMatchObject([200, { status: "approved" }]);
    const { toolCalls } = await ended(runId);
    expect([toolCalls[0]?.outcome, moved]).toEqual(["SUCCESS", ["40 to bakery"]]);
  });

  test("leaves the approval standing: it changes the terms and changes them back", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    await changeGuildPolicy({ ...GUILD_POLICY, ...THREE });
    await changeGuildPolicy(GUILD_POLICY);
    const last = await decide(approvalId, "cat", APPROVE);
    expect(await last.json()).toMatchObject({ status: "approved" });
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
  });
});

describe("a newer policy that allows the call as it is", () => {
  const onlyBakery = {
    argumentRules: [{ tool: "lab__transfer", field: "/to", must: { equal: "bakery" } }],
  };

  test("refuses an edit that breaks one of its rules, and the approval stays open", async () => {
    const { runId, approvalId } = await askToPay();
    await changeGuildPolicy({ ...GUILD_POLICY, ...onlyBakery });
    const edit = { ...APPROVE, arguments: { to: "butcher", amount: 40 } };
    const refused = await decide(approvalId, "bob", edit);
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      { code: "arguments_refused", errors: [{ pointer: "/to" }] },
    ]);
    expect(await viewOf(approvalId, "bob")).toMatchObject({ status: "pending", approvals: 0 });
    for (const person of ["bob", "cat"] as const) await decide(approvalId, person, APPROVE);
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
  });
});

describe("a change of the policy that touches the call", () => {
  test.each([
    ["number of approvers", THREE, "was 2, is now 3"],
    [
      "seconds to decide",
      { approvals: [{ tools: ["lab__transfer"], pattern: "dual_control", ttlSeconds: 60 }] },
      "was 3600, is now 60",
    ],
    [
      "limits of the run",
      { budgets: { maxCritical: 99 } },
      'was {"critical":100}, is now {"critical":99}',
    ],
    [
      "who may call",
      { callers: [{ tools: ["lab__transfer"], actors: ["user:ann"] }] },
      String.raw`was [], is now ["{\"tools\":[\"lab__transfer\"],\"actors\":[\"user:ann\"]}"]`,
    ],
  ])("requests the approval again and shows the difference: %s", async (label, change, text) => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    await changeGuildPolicy({ ...GUILD_POLICY, ...change });
    const last = await decide(approvalId, "cat", APPROVE);
    expect([last.status, await last.json()]).toMatchObject([
      409,
      {
        code: "approval_closed",
        approval: { status: "superseded", supersededBecause: "terms_changed", approvals: 1 },
      },
    ]);
    const next = await requestedAgain(runId, approvalId);
    expect(await viewOf(approvalId, "bob")).toMatchObject({ supersededBy: next });
    const { lines, approvals, required } = await viewOf(next, "bob");
    expect(lines[0]).toMatchObject({ field: "changedTerms", label: `Changed: ${label}`, text });
    expect(approvals).toBe(0);
    for (const approver of (["bob", "cat", "eve"] as const).slice(0, required)) {
      expect(moved).toEqual([]);
      expect((await decide(next, approver, APPROVE)).status).toBe(200);
    }
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("requests the approval again when somebody reads it", async () => {
    const { runId, approvalId } = await askToPay();
    await changeGuildPolicy({ ...GUILD_POLICY, ...THREE });
    expect(await viewOf(approvalId, "bob")).toMatchObject({
      status: "superseded",
      supersededBecause: "terms_changed",
      mayDecide: false,
    });
    const next = await requestedAgain(runId, approvalId);
    expect(await viewOf(next, "bob")).toMatchObject({ status: "pending", required: 3 });
    expect((await decide(next, "ann", REJECT)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual([]);
  });

  test("never counts a vote of the old terms for the new ones, also of an editor", async () => {
    const { runId, approvalId } = await askToPay();
    await changeGuildPolicy({ ...GUILD_POLICY, ...THREE });
    const edit = { ...APPROVE, arguments: { to: "bakery", amount: 41 } };
    expect(await refusalOf(await decide(approvalId, "bob", edit))).toEqual([
      409,
      "approval_closed",
    ]);
    const next = await requestedAgain(runId, approvalId);
    const { packet, votes } = await viewOf(next, "bob");
    expect([packet.arguments.shown, votes]).toEqual([{ to: "bakery", amount: 40 }, []]);
    await decide(next, "ann", REJECT);
    await ended(runId);
  });

  test("ends the call when it denies the tool, and no vote answers approved", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    await changeGuildPolicy({ allowedTools: ["lab__notify"] });
    expect((await decide(approvalId, "cat", APPROVE)).status).toBe(409);
    const { toolCalls } = await ended(runId);
    expect([toolCalls[0]?.outcome, moved]).toEqual(["POLICY_VIOLATION", []]);
  });

  test("leaves a rejection what it is", async () => {
    const { runId, approvalId } = await askToPay();
    await changeGuildPolicy({ ...GUILD_POLICY, ...THREE });
    const answer = await decide(approvalId, "bob", REJECT);
    expect([answer.status, await answer.json()]).toMatchObject([200, { status: "rejected" }]);
    await ended(runId);
    expect(moved).toEqual([]);
  });
});

describe("a policy that cannot be read", () => {
  /** Changes the policy and hides its document in KV; answers how to show it again. */
  async function hidePolicy(): Promise<() => Promise<void>> {
    const keysOf = async (): Promise<readonly string[]> =>
      (await bindings.POLICY.list({ prefix: "policy/guild/sha256:" })).keys.map(({ name }) => name);
    const before = await keysOf();
    const maxReads = 1_000 + before.length;
    await changeGuildPolicy({ ...GUILD_POLICY, budgets: { maxCritical: 100, maxReads } });
    const key = (await keysOf()).find((name) => !before.includes(name)) ?? "";
    const document = await bindings.POLICY.get(key);
    await bindings.POLICY.delete(key);
    return () => bindings.POLICY.put(key, document ?? "");
  }

  test("answers 503 to a vote and stores none; the vote counts once it can be read", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    const show = await hidePolicy();
    const vote = await decide(approvalId, "cat", APPROVE);
    expect(await refusalOf(vote)).toEqual([503, "policy_unavailable"]);
    expect(vote.headers.get("retry-after")).not.toBeNull();
    const stored = await rowsOf(runId, "SELECT status, body FROM approvals");
    expect(
      stored.map(({ status, body }) => [status, JSON.parse(body as string).votes.length]),
    ).toEqual([["pending", 1]]);
    expect(await viewOf(approvalId, "cat")).toMatchObject({ status: "pending", approvals: 1 });
    await show();
    expect((await decide(approvalId, "cat", APPROVE)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("does not keep anybody from rejecting", async () => {
    const { runId, approvalId } = await askToPay();
    await hidePolicy();
    expect((await decide(approvalId, "bob", REJECT)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual([]);
  });

  test("fails its entry of a bulk decision", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__archive", { what: "a" })]);
    await hidePolicy();
    const answer = await send("/v1/approvals/decisions", {
      caller: "bob",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ decisions: [{ approvalId, ...APPROVE }] }),
    });
    expect(await answer.json()).toEqual({
      results: [{ approvalId, code: "policy_unavailable" }],
    });
    await decide(approvalId, "ann", REJECT);
    await ended(runId);
    expect(moved).toEqual([]);
  });
});
