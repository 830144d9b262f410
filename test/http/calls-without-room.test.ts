import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ObservationObject } from "../../src/protocol/outcome/observation.ts";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  askNobody,
  callOf,
  decide,
  ended,
  openOf,
  REJECT,
} from "../shared/people.ts";
import { invoke, read } from "../shared/invoke.ts";
import { cancel, untilState } from "../shared/run-object.ts";
import {
  chat,
  chunksOf,
  putPolicy,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
  type Caller,
} from "../shared/worker.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

beforeAll(seedPolicies);

beforeEach(() => {
  moved.length = 0;
});

/** Windows of their own keep the tests of one tenant apart. */
let windowSeconds = 2_400_000;

/** Replaces the policy of the guild. */
async function govern(change: object): Promise<void> {
  const current = await send("/v1/policy", { caller: "chief" });
  const document = {
    ...GUILD_POLICY,
    allowedTools: ["lab__transfer", "lab__notify", "lab__wire", "lab__watch"],
    approvals: [],
    delegations: [],
    tenantBudgets: { windowSeconds: ++windowSeconds },
    ...change,
  };
  const etag = current.headers.get("etag") ?? "";
  const answer = await putPolicy(document, { caller: "chief", "if-match": etag });
  expect(answer.status).toBe(200);
}

afterAll(() => govern({}));

const wire = (amount: number, id?: string) => callOf("lab__wire", { amount }, id);
const notify = (what: string, id?: string) => callOf("lab__notify", { what }, id);

const asked = new Set<string>();

/** Waits for an approval of a run that no test has decided yet. */
async function nextOpen(runId: string): Promise<{ readonly approvalId: string }> {
  let approvalId = "";
  await expect
    .poll(async () => {
      const open = openOf(await stateOf(runId, "ann"));
      approvalId = open.find((id) => !asked.has(id)) ?? "";
      return approvalId;
    })
    .not.toBe("");
  asked.add(approvalId);
  return { approvalId };
}

/** The taxonomy class of each call of a run, and the codes that the model is told. */
async function endsOf(runId: string): Promise<readonly (readonly string[])[]> {
  const chunks = await chunksOf(await send(`/v1/runs/${runId}/events`, { caller: "ann" }));
  return chunks
    .filter(({ type }) => type === "result")
    .map(({ result }) => {
      const { status, result_payload: payload } = result as ObservationObject;
      return [status.taxonomy_class as string].concat(payload.errors.map(({ code }) => code));
    });
}

/** Approves a call of the requester, and waits for its effect. */
async function consent(call: ReturnType<typeof callOf>): Promise<void> {
  const { runId, approvalId } = await askFor([call]);
  expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
  await ended(runId);
}

describe("nobody is asked about a call that cannot run", () => {
  test.each([
    ["a negative amount", {}, [wire(-5)], "OUT_OF_BOUNDS"],
    ["an amount that cannot be counted", {}, [wire(2 ** 60)], "OUT_OF_BOUNDS"],
    ["money in another currency", { currency: "EUR" }, [wire(5)], "POLICY_VIOLATION"],
    [
      "an amount over the limit of a run",
      { budgets: { maxFinancial: 4 } },
      [wire(5)],
      "BUDGET_EXHAUSTED",
    ],
    [
      "a critical mutation where policy allows none in a run",
      { budgets: {}, tenantBudgets: { maxCritical: 9, windowSeconds: 60 } },
      [callOf("lab__transfer", { to: "bakery", amount: 1 })],
      "BUDGET_EXHAUSTED",
    ],
    [
      "a critical mutation where policy allows none in the tenant",
      { tenantBudgets: { windowSeconds: 61 } },
      [callOf("lab__transfer", { to: "bakery", amount: 1 })],
      "BUDGET_EXHAUSTED",
    ],
    [
      "an amount over the tenant's limit",
      { tenantBudgets: { maxFinancial: 4 } },
      [wire(5)],
      "BUDGET_EXHAUSTED",
    ],
  ])("because of %s", async (_, policy, calls, outcome) => {
    await govern(policy);
    expect(await askNobody(calls)).toMatchObject([{ outcome }]);
    expect(moved).toEqual([]);
  });

  test("because of what the tenant has used up, in budget and in rate", async () => {
    const allowedTools = [
      "lab__wire",
      { id: "lab__notify", rateLimit: { windowSeconds: ++windowSeconds, maxRequests: 1 } },
    ];
    await govern({
      allowedTools,
      tenantBudgets: { maxFinancial: 7, windowSeconds: ++windowSeconds },
    });
    await consent(wire(5));
    expect(await askNobody([wire(3)])).toMatchObject([{ outcome: "BUDGET_EXHAUSTED" }]);
    await consent(wire(2));
    await consent(notify("first"));
    expect(await askNobody([notify("second")])).toMatchObject([{ outcome: "RATE_LIMITED" }]);
    expect(moved).toEqual(["wired 5", "wired 2", "notified: first"]);
  });

  test("but asking takes nothing: what a rejected call would have used is there for the next", async () => {
    await govern({ tenantBudgets: { maxFinancial: 5, windowSeconds: ++windowSeconds } });
    const { runId, approvalId } = await askFor([wire(5)]);
    await decide(approvalId, "ann", REJECT);
    await ended(runId);
    await consent(wire(5));
    expect(moved).toEqual(["wired 5"]);
  });

  test("because of what the run has used up, in budget and in the contract's rate", async () => {
    await govern({ budgets: { maxFinancial: 7 } });
    const steps = [5, 3, 2, 0].map((amount) => ({ calls: [wire(amount)] }));
    const runId = runIdOf(await chat([...steps, { text: ["done"] }], "ann"));
    for (const open of [1, 2]) {
      const state = await untilState(runId, { status: "waiting" }, "ann");
      expect(openOf(state)).toHaveLength(1);
      expect(moved).toHaveLength(open - 1);
      await decide(openOf(state)[0] ?? "", "ann", APPROVE);
      await expect.poll(() => moved).toHaveLength(open);
    }
    const { toolCalls } = await ended(runId);
    expect(toolCalls.map(({ outcome }) => outcome)).toEqual([
      "SUCCESS",
      "BUDGET_EXHAUSTED",
      "SUCCESS",
      "RATE_LIMITED",
    ]);
    expect(moved).toEqual(["wired 5", "wired 2"]);
  });
});

test("the calls of one run ask people about no more than policy allows at once", async () => {
  await govern({ budgets: { maxOpenApprovals: 3 } });
  const calls = Array.from({ length: 8 }, (_, index) => notify(`n${index}`, `call_${index}`));
  const { runId, approvalId } = await askFor(calls);
  const state = await untilState(runId, { status: "waiting" }, "ann");
  expect(openOf(state)).toHaveLength(3);
  const refused = state.toolCalls.filter(({ outcome }) => outcome === "BUDGET_EXHAUSTED");
  expect(refused).toHaveLength(5);
  // An edit takes the place of its own request.
  await decide(approvalId, "ann", { ...APPROVE, arguments: { what: "edited" } });
  await expect.poll(() => moved).toEqual(["notified: edited"]);
  await cancel(runId, "ann");
});

test("without a limit in the policy, one run asks people ten things at once", async () => {
  await govern({});
  const calls = Array.from({ length: 12 }, (_, index) => notify(`d${index}`, `call_${index}`));
  const { runId } = await askFor(calls);
  expect(openOf(await untilState(runId, { status: "waiting" }, "ann"))).toHaveLength(10);
  await cancel(runId, "ann");
});

/** Sends direct calls at once that need people. Counts their answers by status or code. */
async function flood(caller: Caller, calls: number): Promise<Readonly<Record<string, number>>> {
  const sent = Array.from({ length: calls }, async (_, index) => {
    const key = `${caller}-${windowSeconds}-${index}`;
    const asked = await invoke("lab__notify", { what: key }, { caller, key });
    const { status, observation } = await read(asked);
    return observation?.result_payload.errors[0]?.code ?? String(status);
  });
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(sent)) counts[answer] = (counts[answer] ?? 0) + 1;
  return counts;
}

/** The open approvals of a person, as the queue lists them. */
async function openQueue(
  caller: Caller,
): Promise<readonly { approvalId: string; runId: string }[]> {
  const response = await send("/v1/approvals?mine=true&limit=100", { caller });
  return (await response.json<{ approvals: { approvalId: string; runId: string }[] }>()).approvals;
}

async function emptyQueues(): Promise<void> {
  for (const caller of ["ann", "eve"] as const) {
    for (const { runId } of await openQueue(caller)) await cancel(runId, caller);
    await expect.poll(() => openQueue(caller)).toEqual([]);
  }
}

describe("one caller floods approvers with direct calls", () => {
  beforeEach(emptyQueues);
  afterEach(emptyQueues);

  test("no more of them wait at once than policy allows; decided ones make room", async () => {
    await govern({
      tenantBudgets: { windowSeconds: ++windowSeconds, maxOpenApprovalsPerActor: 3 },
    });
    expect(await flood("ann", 12)).toEqual({ 202: 3, too_many_approvals_of_actor: 9 });
    await expect.poll(() => openQueue("ann")).toHaveLength(3);
    const [edited = "", refused = ""] = (await openQueue("ann")).map(
      ({ approvalId }) => approvalId,
    );
    // An edit takes the place of its own request.
    await decide(edited, "ann", { ...APPROVE, arguments: { what: "edited" } });
    await expect.poll(() => moved).toEqual(["notified: edited"]);
    await decide(refused, "ann", REJECT);
    await expect.poll(() => openQueue("ann")).toHaveLength(1);
    windowSeconds++;
    expect(await flood("ann", 5)).toEqual({ 202: 2, too_many_approvals_of_actor: 3 });
    expect(await flood("eve", 1)).toEqual({ 202: 1 });
  });

  test("the tenant has a limit too, for all people together", async () => {
    await govern({ tenantBudgets: { windowSeconds: ++windowSeconds, maxOpenApprovals: 4 } });
    expect(await flood("ann", 3)).toEqual({ 202: 3 });
    expect(await flood("eve", 3)).toEqual({ 202: 1, too_many_approvals_of_tenant: 2 });
  });

  test("without a limit in the policy, fifty wait", async () => {
    await govern({});
    expect(await flood("ann", 60)).toEqual({ 202: 50, too_many_approvals_of_actor: 10 });
  });
});

describe("a person's refusal is no mistake of the model", () => {
  test("however many calls people refused, the tool stays for the call that they want", async () => {
    await govern({});
    const refused = ["a", "b", "c", "d", "e", "f"];
    const steps = [...refused, "wanted", "a"].map((what) => ({ calls: [notify(what)] }));
    const runId = runIdOf(await chat([...steps, { text: ["done"] }], "ann"));
    for (const what of [...refused, "wanted"]) {
      const { approvalId } = await nextOpen(runId);
      expect((await decide(approvalId, "ann", what === "wanted" ? APPROVE : REJECT)).status).toBe(
        200,
      );
    }
    await ended(runId);
    expect(moved).toEqual(["notified: wanted"]);
    // People refused these arguments, so nobody is asked about them again.
    const rejected = [["PERMISSION_DENIED", "approval_rejected"]];
    expect(await endsOf(runId)).toEqual([
      ...refused.flatMap(() => rejected),
      ["SUCCESS"],
      ...rejected,
    ]);
  });

  test("one run has people asked about no more calls than policy allows, decided ones included", async () => {
    await govern({ budgets: { maxApprovalRequests: 2 } });
    const steps = ["a", "b", "c", "d"].map((what) => ({ calls: [notify(what)] }));
    const runId = runIdOf(await chat([...steps, { text: ["done"] }], "ann"));
    for (const answer of [REJECT, APPROVE]) {
      const { approvalId } = await nextOpen(runId);
      await decide(approvalId, "ann", answer);
    }
    await ended(runId);
    const over = ["BUDGET_EXHAUSTED", "approval_requests_exhausted"];
    const rejected = ["PERMISSION_DENIED", "approval_rejected"];
    expect(await endsOf(runId)).toEqual([rejected, ["SUCCESS"], over, over]);
  });
});

describe("an edit to a value that cannot run is refused to the editor", () => {
  test.each([
    ["a negative amount", {}, -5],
    ["an amount that cannot be counted", {}, 2 ** 60],
    ["an amount over the limit of a run", { budgets: { maxFinancial: 9 } }, 10],
    ["an amount over the limit of the tenant", { tenantBudgets: { maxFinancial: 9 } }, 10],
  ])("%s", async (_, policy, amount) => {
    await govern(policy);
    const { runId, approvalId } = await askFor([wire(5)]);
    const answer = await decide(approvalId, "ann", { ...APPROVE, arguments: { amount } });
    expect([answer.status, await answer.json()]).toMatchObject([
      422,
      { code: "arguments_refused" },
    ]);
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual(["wired 5"]);
  });
});
