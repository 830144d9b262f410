import { afterEach, describe, expect, test } from "vitest";
import { account, GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  REJECT,
  useApprovalLab,
  viewOf,
} from "../shared/people.ts";
import { invoke, read } from "../shared/invoke.ts";
import { cancel } from "../shared/run-object.ts";
import { send, type Caller } from "../shared/worker.ts";

useApprovalLab();

afterEach(() => changeGuildPolicy(GUILD_POLICY));

const WITH_REASON = { ...APPROVE, reason: "checked" };
const DUAL = { tools: ["lab__transfer"], pattern: "dual_control" };
const COMPLIANCE = { classes: ["CRITICAL_MUTATION"], pattern: "compliance" };

function withRules(approvals: readonly object[], change: object = {}): Promise<void> {
  const allowedTools = [...GUILD_POLICY.allowedTools, "lab__wire", "lab__reimburse"];
  return changeGuildPolicy({ ...GUILD_POLICY, allowedTools, approvals, ...change });
}

/** Votes, and returns the status of the approval, or the reason of the refusal. */
async function vote(approvalId: string, caller: Caller, body: object = APPROVE): Promise<string> {
  const answer = await decide(approvalId, caller, body);
  const { reason, code, status } = await answer.json<Readonly<Record<string, string>>>();
  return answer.status === 200 ? String(status) : (reason ?? String(code));
}

/** How many people each rule has. */
async function countsOf(approvalId: string): Promise<readonly string[]> {
  const { requirements } = await viewOf(approvalId, "bob");
  return requirements.map(
    ({ pattern, approvals, required }) => `${pattern} ${approvals}/${required}`,
  );
}

describe("a call under two rules", () => {
  test("needs all of them; a person with the roles of both counts for one", async () => {
    await withRules([DUAL, COMPLIANCE]);
    const { runId, approvalId } = await askToPay();
    expect(await countsOf(approvalId)).toEqual(["dual_control 0/2", "compliance 0/1"]);
    expect(await vote(approvalId, "eve", WITH_REASON)).toBe("pending");
    expect(await vote(approvalId, "EVE", WITH_REASON)).toBe("pending");
    expect(await vote(approvalId, "bob")).toBe("pending");
    expect([await countsOf(approvalId), moved]).toEqual([
      ["dual_control 2/2", "compliance 0/1"],
      [],
    ]);
    expect(await viewOf(approvalId, "bob")).toMatchObject({ required: 3, approvals: 2 });
    // Cat takes the place of eve, who is the only one who counts for compliance.
    expect(await vote(approvalId, "cat")).toBe("approved");
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("refuses an approval that no open rule can use, and says what is missing", async () => {
    await withRules([DUAL, COMPLIANCE]);
    const { runId, approvalId } = await askToPay();
    for (const person of ["bob", "cat"] as const) await vote(approvalId, person);
    expect(await vote(approvalId, "EVE")).toBe("not_needed");
    expect(await viewOf(approvalId, "EVE")).toMatchObject({
      mayDecide: false,
      mayNot: "not_needed",
    });
    expect(await vote(approvalId, "eve")).toBe("reason_missing");
    expect(await vote(approvalId, "cashier")).toBe("approval_not_found");
    expect(await vote(approvalId, "ann")).toBe("own_request");
    expect(moved).toEqual([]);
    expect(await vote(approvalId, "dan", WITH_REASON)).toBe("approved");
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("ends with one rejection, also by a person whose approval is not needed", async () => {
    await withRules([DUAL, COMPLIANCE]);
    const { runId, approvalId } = await askToPay();
    for (const person of ["bob", "cat"] as const) await vote(approvalId, person);
    expect(await vote(approvalId, "EVE", REJECT)).toBe("rejected");
    await ended(runId);
    expect(moved).toEqual([]);
  });

  test("is decided in bulk only when both rules allow it, and in the shorter time", async () => {
    const bulk = { tools: ["lab__archive"], pattern: "async_review", ttlSeconds: 50 };
    await withRules([bulk, { ...COMPLIANCE, classes: ["MEDIUM_RISK_WRITE"] }]);
    const { runId, approvalId } = await askFor([callOf("lab__archive", { what: "a" })]);
    const answer = await send("/v1/approvals/decisions", {
      caller: "eve",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ decisions: [{ approvalId, ...WITH_REASON }] }),
    });
    expect(await answer.json()).toEqual({ results: [{ approvalId, code: "not_bulk" }] });
    const { requestedAt, expiresAt } = await viewOf(approvalId, "bob");
    expect(Date.parse(expiresAt) - Date.parse(requestedAt)).toBe(50_000);
    await cancel(runId, "ann");
  });

  test("stands in the queue of those who can fill either rule", async () => {
    await withRules([DUAL, COMPLIANCE]);
    const { runId, approvalId } = await askToPay();
    for (const [caller, query, isListed] of [
      ["cat", "decidable=true", true],
      ["dan", "decidable=true", true],
      ["dan", "pattern=dual_control", true],
      ["dan", "pattern=async_review", false],
      ["cashier", "decidable=true", false],
      ["ann", "decidable=true", false],
    ] as const) {
      const listed = await (await send(`/v1/approvals?${query}`, { caller })).text();
      expect([caller, query, listed.includes(approvalId)]).toEqual([caller, query, isListed]);
    }
    await cancel(runId, "ann");
  });
});

describe("a policy that asks for less than the one the run began with", () => {
  test("leaves the approval standing, with all rules of the first", async () => {
    await withRules([DUAL, COMPLIANCE]);
    const { runId, approvalId } = await askToPay();
    await withRules([DUAL]);
    for (const person of ["bob", "cat"] as const) await vote(approvalId, person);
    expect([await countsOf(approvalId), moved]).toEqual([
      ["dual_control 2/2", "compliance 0/1"],
      [],
    ]);
    expect(await vote(approvalId, "dan", WITH_REASON)).toBe("approved");
    await ended(runId);
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("and for other people leaves all rules of the first in force, and adds its own", async () => {
    await withRules([DUAL, COMPLIANCE]);
    const first = await askToPay();
    await withRules([{ ...DUAL, required: 1, roles: ["controller"] }]);
    expect(await viewOf(first.approvalId, "bob")).toMatchObject({ status: "superseded" });
    const approvalId = first.approvalId.replace(/_1$/, "_2");
    await expect
      .poll(async () => (await viewOf(first.approvalId, "bob")).supersededBy)
      .toBe(approvalId);
    expect(await countsOf(approvalId)).toEqual([
      "dual_control 0/2",
      "compliance 0/1",
      "dual_control 0/1",
    ]);
    for (const person of ["controller", "bob", "cat"] as const) {
      expect(await vote(approvalId, person)).toBe("pending");
    }
    expect(moved).toEqual([]);
    expect(await vote(approvalId, "dan", WITH_REASON)).toBe("approved");
    await ended(first.runId);
    expect(moved).toEqual(["40 to bakery"]);
  });
});

const LIMITS = { clerk: 1_000, controller: 50_000 };
const WIRE = { tools: ["lab__wire"], pattern: "operator_review", limits: LIMITS };
const askToWire = (amount: number) => askFor([callOf("lab__wire", { amount })]);

describe("an amount", () => {
  test("above a threshold asks more people, and one below it does not", async () => {
    await withRules([
      { tools: ["lab__wire"], amount: { upTo: 1_000 }, pattern: "user_consent" },
      { tools: ["lab__wire"], amount: { above: 1_000 }, pattern: "dual_control" },
    ]);
    const small = await askToWire(1_000);
    expect(await vote(small.approvalId, "ann")).toBe("approved");
    await ended(small.runId);
    const large = await askToWire(1_000.01);
    expect(await vote(large.approvalId, "ann")).toBe("own_request");
    expect(await vote(large.approvalId, "bob")).toBe("pending");
    expect(moved).toEqual(["wired 1000"]);
    expect(await vote(large.approvalId, "cat")).toBe("approved");
    await ended(large.runId);
    expect(moved).toEqual(["wired 1000", "wired 1000.01"]);
  });

  test("above the limit of a clerk needs a controller, also after an edit", async () => {
    await withRules([WIRE]);
    const { runId, approvalId } = await askToWire(1_000.01);
    expect(await vote(approvalId, "cashier")).toBe("over_limit");
    expect(await vote(approvalId, "bob")).toBe("approval_not_found");
    await vote(approvalId, "controller", REJECT);
    await ended(runId);
    const second = await askToWire(1_000);
    const edit = { ...APPROVE, arguments: { amount: 1_000.01 } };
    expect(await vote(second.approvalId, "cashier", edit)).toBe("superseded");
    const next = second.approvalId.replace(/_1$/, "_2");
    await expect
      .poll(async () => (await viewOf(second.approvalId, "cashier")).supersededBy)
      .toBe(next);
    expect(await viewOf(next, "controller")).toMatchObject({ status: "pending", votes: [] });
    expect([await vote(next, "cashier"), moved]).toEqual(["over_limit", []]);
    expect(await vote(next, "controller")).toBe("approved");
    await ended(second.runId);
    expect(moved).toEqual(["wired 1000.01"]);
  });
});

let invoked = 0;

/** How a call ended that nobody was asked about. */
async function refusalOfCall(name: string, args: object): Promise<string | undefined> {
  const key = `rules-${++invoked}`;
  const { observation } = await read(await invoke(name, args, { caller: "ann", key }));
  return observation?.result_payload.errors[0]?.code;
}

describe("an amount that the caller may not ask for", () => {
  test.each([
    ["lab__wire", { amount: 1_000.01 }],
    ["lab__reimburse", {}],
  ])("ends the call before anybody is asked: %s of %j", async (tool, args) => {
    await withRules([{ ...WIRE, tools: [tool] }], { callerLimits: { clerk: 1_000 } });
    expect(await refusalOfCall(tool, args)).toBe("over_caller_limit");
    expect(moved).toEqual([]);
  });

  test("is counted by the highest limit of the caller's roles, also for an edit", async () => {
    const rule = { ...WIRE, limits: undefined, roles: ["controller"] };
    await withRules([rule], { callerLimits: { operator: 10, compliance: 1_000 } });
    const { runId, approvalId } = await askFor([callOf("lab__wire", { amount: 1_000 })], "eve");
    const edit = { ...APPROVE, arguments: { amount: 1_000.01 } };
    expect(await vote(approvalId, "controller", edit)).toBe("arguments_refused");
    await withRules([rule], { callerLimits: { operator: 10, compliance: 999 } });
    expect(await vote(approvalId, "controller")).toBe("approval_closed");
    await ended(runId, "eve");
    expect(moved).toEqual([]);
  });
});

describe("an approver whom the call names", () => {
  const rule = { tools: ["lab__reimburse"], pattern: "dual_control", required: 1, roles: [] };
  const askToReimburse = (args: object) =>
    askFor([callOf("lab__reimburse", { amount: 5, ...args })]);

  test.each([
    ["/requestedBy", { requestedBy: "user:bob" }],
    ["/requestedBy", { requestedBy: " BOB " }],
    ["/people", { people: ["user:dan", "User:Bob"] }],
    ["/people/*", { people: ["user:dan", "bob"] }],
    ["/beneficiary", { beneficiary: "bob" }],
    ["before:/owner", { requestedBy: "user:olga" }],
  ])("in %s as %j does not approve; another person does", async (field, args) => {
    account.owner = "user:bob";
    await withRules([{ ...rule, approverIsNot: [field] }]);
    const { runId, approvalId } = await askToReimburse(args);
    for (const caller of ["bob", "BOB"] as const) {
      expect(await vote(approvalId, caller)).toBe("named_in_call");
    }
    expect(await viewOf(approvalId, "bob")).toMatchObject({ mayNot: "named_in_call" });
    expect(moved).toEqual([]);
    expect(await vote(approvalId, "cat")).toBe("approved");
    await ended(runId);
    expect(moved).toEqual(["reimbursed 5"]);
  });

  test.each([
    ["is left out", "/requestedBy", {}],
    ["is no text", "/amount", {}],
    ["is blank", "/requestedBy", { requestedBy: " " }],
    ["is not in the state", "after:/owner", {}],
  ])("cannot be told when the field %s, so nobody is asked", async (_, field, args) => {
    await withRules([{ ...rule, approverIsNot: [field] }]);
    expect(await refusalOfCall("lab__reimburse", { amount: 5, ...args })).toBe(
      "nobody_may_approve",
    );
    expect(moved).toEqual([]);
  });

  test("is the one of the arguments that run, not of those that were edited", async () => {
    await withRules([{ ...rule, required: 2, approverIsNot: ["/requestedBy"] }]);
    const { runId, approvalId } = await askToReimburse({ requestedBy: "bob" });
    const editTo = (requestedBy: unknown) => ({
      ...APPROVE,
      arguments: { amount: 5, requestedBy },
    });
    expect(await vote(approvalId, "bob", editTo("dan"))).toBe("named_in_call");
    expect(await vote(approvalId, "cat", editTo(" "))).toBe("arguments_refused");
    expect(await vote(approvalId, "cat", editTo("cat"))).toBe("superseded");
    const next = approvalId.replace(/_1$/, "_2");
    await expect.poll(async () => (await viewOf(approvalId, "cat")).supersededBy).toBe(next);
    expect(await viewOf(next, "bob")).toMatchObject({ votes: [], approvals: 0 });
    expect(await vote(next, "cat")).toBe("named_in_call");
    expect([await vote(next, "bob"), moved]).toEqual(["pending", []]);
    expect(await vote(next, "dan")).toBe("approved");
    await ended(runId);
    expect(moved).toEqual(["reimbursed 5"]);
  });

  test("is read again when the call uses the approval", async () => {
    Object.assign(account, { owner: "user:olga", keeper: "user:olga" });
    await withRules([{ ...rule, approverIsNot: ["before:/owner"] }]);
    const { runId, approvalId } = await askToReimburse({});
    account.owner = "bob";
    expect(await vote(approvalId, "bob")).toBe("approved");
    const next = approvalId.replace(/_1$/, "_2");
    await expect.poll(async () => (await viewOf(approvalId, "bob")).supersededBy).toBe(next);
    expect([await vote(next, "bob"), moved]).toEqual(["named_in_call", []]);
    await vote(next, "ann", REJECT);
    await ended(runId);
    expect(moved).toEqual([]);
  });

  test("does not count when the state names them after the vote, although it may change", async () => {
    account.keeper = "user:olga";
    await withRules([{ ...rule, approverIsNot: ["before:/keeper"] }]);
    const { runId, approvalId } = await askToReimburse({});
    account.keeper = "bob";
    expect(await vote(approvalId, "bob")).toBe("approved");
    const { toolCalls } = await ended(runId);
    expect([toolCalls[0]?.outcome, moved]).toEqual(["CONFIRMATION_MISSING", []]);
  });
});
