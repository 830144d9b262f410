import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { composeTenants } from "../../src/compose/tenant.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import { cancel } from "../shared/run-object.ts";
import { APPROVE, askToPay, callOf, decide, ended } from "../shared/people.ts";
import { bindings, chat, putPolicy, runIdOf, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

beforeEach(() => {
  moved.length = 0;
});

const PAY = { tools: ["lab__transfer"] };
const NOBODY_ELSE = { required: 1, roles: [], excludeRequester: false };

async function change(approvals: readonly object[]): Promise<Response> {
  const current = await send("/v1/policy", { caller: "chief" });
  const etag = current.headers.get("etag") ?? "";
  const document = { ...GUILD_POLICY, approvals: [...GUILD_POLICY.approvals, ...approvals] };
  return putPolicy(document, { caller: "chief", "if-match": etag });
}

describe("a policy that lets a critical mutation pass too easily is refused", () => {
  test.each([
    ["the requester alone", { ...PAY, pattern: "dual_control", ...NOBODY_ELSE }],
    ["consent", { ...PAY, pattern: "user_consent" }],
    ["consent up to an amount", { ...PAY, amount: { upTo: 100 }, pattern: "user_consent" }],
    ["anybody", { ...PAY, pattern: "operator_review", roles: [] }],
    ["the requester with a role", { ...PAY, pattern: "compliance", excludeRequester: false }],
    ["bulk decisions", { ...PAY, pattern: "async_review" }],
    ["bulk decisions, by class", { classes: ["CRITICAL_MUTATION"], pattern: "async_review" }],
    ["the requester alone, for every tool", { pattern: "dual_control", ...NOBODY_ELSE }],
  ])("to %s", async (_, rule) => {
    const answer = await change([rule]);
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      { code: "approval_too_weak", errors: [{ pointer: "/approvals/3" }] },
    ]);
  });

  test.each([
    ["two people of any role", { ...PAY, pattern: "dual_control", roles: [] }],
    ["one of a role", { ...PAY, pattern: "operator_review" }],
    ["consent for other classes", { classes: ["HIGH_RISK_EXTERNAL"], pattern: "user_consent" }],
    ["consent for what is not critical", { pattern: "user_consent" }],
  ])("and one that asks %s is stored", async (_, rule) => {
    expect((await change([rule])).status).toBe(200);
    expect((await change([])).status).toBe(200);
  });
});

/** Stores a policy past the API, as an earlier version of the API did. */
async function plant(approvals: readonly object[]): Promise<void> {
  const { registry } = composeTenants(bindings.TENANTS);
  const guild = "guild" as TenantId;
  const pin = await registry.current(guild);
  const changed = await registry.change(guild, policyOf({ ...GUILD_POLICY, approvals }), {
    expectedRevision: pin?.revision,
    by: { actorId: "user:chief" as ActorId },
  });
  expect(changed.kind).toBe("changed");
  // This isolate learns the new revision.
  expect((await send("/v1/policy", { caller: "chief" })).status).toBe(200);
}

describe("a weak approval rule that is stored already", () => {
  const weak = [{ ...PAY, pattern: "dual_control", ...NOBODY_ELSE }];

  test("denies the tool: the model does not see it and nobody is asked", async () => {
    await plant(weak);
    const call = callOf("lab__transfer", { to: "bakery", amount: 40 });
    const response = await chat([{ calls: [call] }, { text: ["done"] }], "ann");
    const { toolCalls } = await ended(runIdOf(response));
    expect(toolCalls).toMatchObject([{ outcome: "POLICY_VIOLATION" }]);
    const listed = await (await send("/v1/tools", { caller: "ann" })).text();
    expect(listed).toContain("lab__notify");
    expect(listed).not.toContain("lab__transfer");
    expect(moved).toEqual([]);
    expect((await change([])).status).toBe(200);
  });

  test("stops a call that other people approved under an earlier policy", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    await plant(weak);
    await decide(approvalId, "cat", APPROVE);
    await cancel(runId, "ann");
    expect(moved).toEqual([]);
    expect((await change([])).status).toBe(200);
  });
});
