import { expect, test } from "vitest";
import { askPerson } from "../../src/core-tools/ask-person.ts";
import {
  call,
  checkPolicy,
  decidePolicy,
  failModel,
  person,
  say,
  scriptedModel,
  startRun,
  type RunSettings,
  type ScriptAnswer,
  type TestRun,
} from "../../src/testing/index.ts";
import { CONNECTIONS, DESK_POLICY, DESK_TOOLS, getTicket, PAID, refund } from "./desk-tools.ts";

const ANN = person("ann", { scopes: ["desk:read", "desk:refund"] });
const REFUND = call("desk__refund", { ticket: 7, amount: 40 });
const LEAD = { roles: ["lead"] };

/** Starts a run at the desk. */
function atDesk(
  script: readonly ScriptAnswer[],
  settings: Partial<RunSettings> = {},
): Promise<TestRun> {
  return startRun({
    tools: DESK_TOOLS,
    policy: DESK_POLICY,
    principal: ANN,
    connections: CONNECTIONS,
    http: [PAID],
    messages: "Refund ticket 7.",
    model: scriptedModel(script),
    ...settings,
  });
}

/** The classes of all calls, sorted: parallel calls reach a limit in any order. */
function classesOf({ calls }: TestRun): readonly string[] {
  return calls.map((call) => (call.isOpen ? "open" : call.taxonomyClass)).toSorted();
}

test("a run waits for two leads, then pays and tells the model", async () => {
  const run = await atDesk([[say("I ask for approval."), REFUND], say("Refunded.")]);
  expect([run.state, run.text]).toEqual(["waiting", "I ask for approval."]);
  expect(run.approvals).toMatchObject([
    { toolId: "desk__refund", required: 2, title: "Refund 40 USD for ticket 7" },
  ]);
  await run.approve({ by: "bob", ...LEAD });
  expect([run.state, run.requests]).toEqual(["waiting", []]);
  await run.approve({ by: "eve", ...LEAD });
  expect([run.state, run.text, run.done?.reason]).toEqual(["ended", "Refunded.", "stop"]);
  expect(run.observations).toMatchObject([{ result_payload: { data: { receipt: "r-7" } } }]);
  const audited = run.audit.map(({ action }) => action);
  expect(audited.filter((action) => action === "approval.voted")).toHaveLength(2);
  expect(run.events.map(({ type }) => type)).toContain("run_waiting");
});

test("the requester, a person without the role and a second vote of one person do not count", async () => {
  const run = await atDesk([REFUND, say("Refunded.")]);
  await expect(run.approve({ by: "ann", ...LEAD })).rejects.toThrow("own_request");
  await expect(run.approve({ by: "bob", roles: ["clerk"] })).rejects.toThrow(
    "It takes 2 people with the role lead, not the requester",
  );
  await run.approve({ by: "bob", ...LEAD });
  await run.approve({ by: "bob", ...LEAD });
  expect([run.state, run.requests]).toEqual(["waiting", []]);
});

test("a rejected call does not run, and the model is told why", async () => {
  const run = await atDesk([REFUND, say("I may not.")]);
  await run.reject({ by: "bob", ...LEAD, reason: "not ours" });
  expect(run.calls).toMatchObject([{ taxonomyClass: "PERMISSION_DENIED" }]);
  expect(JSON.stringify(run.observations)).toContain("not ours");
  expect(run.requests).toEqual([]);
});

test("changed arguments need the other people again", async () => {
  const run = await atDesk([REFUND, say("Refunded.")]);
  await run.approve({ by: "bob", ...LEAD, arguments: { ticket: 7, amount: 10 } });
  expect(run.approvals).toMatchObject([{ title: "Refund 10 USD for ticket 7", approvals: 1 }]);
  await run.approve({ by: "eve", ...LEAD });
  expect(run.requests).toMatchObject([{ body: { amount: 10 } }]);
  const again = await atDesk([REFUND, say("No.")]);
  await expect(
    again.approve({ by: "bob", ...LEAD, arguments: { ticket: 7, amount: 900 } }),
  ).rejects.toThrow("The arguments of desk__refund were refused. /amount:");
});

test("of several open approvals a vote names one", async () => {
  const policy = { ...DESK_POLICY, budgets: { maxCritical: 2 } };
  const both = [call("desk__refund", { ticket: 7, amount: 1 }), REFUND];
  const run = await atDesk([both, say("Both.")], { policy });
  await expect(run.approve({ by: "bob", ...LEAD })).rejects.toThrow(
    "Several approvals are open: desk__refund, desk__refund. Name one by its tool",
  );
  for (const { approvalId } of run.approvals) {
    for (const by of ["bob", "eve"]) await run.approve({ by, ...LEAD, approvalId });
  }
  expect(classesOf(run)).toEqual(["SUCCESS", "SUCCESS"]);
  await expect(run.approve({ by: "bob", tool: "desk__refund" })).rejects.toThrow(
    "Nobody is asked for an approval of desk__refund. The run has ended (stop).",
  );
});

test("an approval expires when its time has passed", async () => {
  const run = await atDesk([REFUND, say("Nobody answered.")]);
  await run.pass(59 * 60_000);
  expect(run.state).toBe("waiting");
  await run.pass(60_000);
  expect([run.state, run.text]).toEqual(["ended", "Nobody answered."]);
  expect(run.calls).toMatchObject([{ errors: [{ code: "approval_expired" }] }]);
});

test("another policy applies to a call that waits", async () => {
  const run = await atDesk([REFUND, say("Not any more.")]);
  await run.changePolicy({ ...DESK_POLICY, allowedTools: ["desk__get_ticket"] });
  await run.approve({ by: "bob", ...LEAD }).catch(() => {});
  expect(run.requests).toEqual([]);
  expect(run.calls).toMatchObject([{ taxonomyClass: "POLICY_VIOLATION" }]);
});

test("the budgets of the run hold over its calls", async () => {
  const run = await atDesk([REFUND, call("desk__refund", { ticket: 8, amount: 70 }), say("Once.")]);
  await run.approve({ by: "bob", ...LEAD });
  await run.approve({ by: "eve", ...LEAD });
  expect(run.calls).toMatchObject([
    { taxonomyClass: "SUCCESS" },
    { taxonomyClass: "BUDGET_EXHAUSTED" },
  ]);
});

test("the budgets and rates of the tenant hold too", async () => {
  const looks = [call("desk__get_ticket", { id: 1 }), call("desk__get_ticket", { id: 2 })];
  const http = (): Response => Response.json({ id: 1, subject: "Broken" });
  const limited = { ...DESK_POLICY, tenantBudgets: { maxReads: 1 } };
  const run = await atDesk([looks, say("One.")], { http, policy: limited });
  expect(classesOf(run)).toEqual(["BUDGET_EXHAUSTED", "SUCCESS"]);
  const entry = { id: "desk__get_ticket", rateLimit: { windowSeconds: 60, maxRequests: 1 } };
  const slow = { ...DESK_POLICY, allowedTools: [entry] };
  const rated = await atDesk([looks, say("One.")], { http, policy: slow });
  expect(classesOf(rated)).toEqual(["RATE_LIMITED", "SUCCESS"]);
});

test("an answer can depend on what the model was told", async () => {
  const http = (): Response => Response.json({ id: 7, subject: "Broken" });
  const model = scriptedModel([
    call("desk__get_ticket", { id: 7 }),
    ({ observations }) => say(`It says ${JSON.stringify(observations[0]?.result_payload.data)}.`),
  ]);
  const run = await startRun({ tools: [getTicket], http, model });
  expect(run.text).toBe('It says {"id":7,"subject":"Broken"}.');
  expect([model.left, model.requests.length]).toEqual([0, 2]);
});

test("a question waits for its person, whose answer is checked and joins the arguments", async () => {
  const ask = call("core__ask_person", { question: "Which?", choices: ["red", "blue"] });
  const run = await startRun({
    tools: [askPerson],
    principal: ANN,
    model: scriptedModel([ask, say("Blue it is.")]),
  });
  expect([run.state, run.approvals]).toMatchObject(["waiting", [{ asks: "answer" }]]);
  await expect(run.answer({ by: "ann", answer: { answer: "green" } })).rejects.toThrow("/answer");
  await expect(run.answer({ by: "bob", answer: { answer: "red" } })).rejects.toThrow("user:bob");
  await run.answer({ by: "ann", answer: { answer: "blue" } });
  expect([run.state, run.text]).toEqual(["ended", "Blue it is."]);
  expect(run.calls).toMatchObject([{ taxonomyClass: "SUCCESS" }]);
});

test("a conversation goes on in another run", async () => {
  const first = await startRun({ tools: [], model: scriptedModel([say("Hi.")]) });
  const model = scriptedModel([say("Bye.")]);
  const messages = [...first.messages, { role: "user", text: "Bye." }] as const;
  await startRun({ tools: [], messages, model });
  const texts = model.requests[0]?.messages.map((message) => "text" in message && message.text);
  expect(texts).toEqual(["Hello.", "Hi.", "Bye."]);
});

test("the model gets the assistant's instructions, tools and context", async () => {
  const model = scriptedModel([say("Hi.")]);
  await atDesk([], {
    model,
    assistant: { instructions: "Help {{context.name}}.", toolIds: ["desk__get_ticket"] },
    context: () => Promise.resolve({ variables: { name: "Ann" } }),
  });
  const [request] = model.requests;
  expect(request?.messages[0]).toMatchObject({ role: "system", text: "Help Ann." });
  expect(request?.tools.map(({ name }) => name)).toEqual(["desk__get_ticket"]);
});

test("a hook can refuse a call", async () => {
  const veto = { code: "closed", message: "the desk is closed" };
  const hooks = [{ before: () => Promise.resolve(veto) }];
  const run = await atDesk([call("desk__get_ticket", { id: 7 }), say("Closed.")], { hooks });
  expect(run.calls).toMatchObject([{ ok: false, errors: [veto] }]);
});

test("an operator resolves a write with an unknown outcome", async () => {
  const unsure = { ...refund, idempotency: { ...refund.idempotency, supported: false } };
  const http = (): Response => new Response(null, { status: 500 });
  const settings = { tools: [unsure], http };
  const paid = await atDesk([REFUND, say("Paid.")], settings);
  await paid.approve({ by: "bob", ...LEAD });
  await paid.approve({ by: "eve", ...LEAD });
  expect([paid.state, paid.approvals]).toEqual(["waiting", []]);
  await paid.resolveOutcome("committed");
  expect([paid.state, paid.text]).toEqual(["ended", "Paid."]);
  await expect(paid.resolveOutcome("committed")).rejects.toThrow("No call has an unknown outcome");
  const lost = await atDesk([REFUND], settings);
  await lost.approve({ by: "bob", ...LEAD });
  await lost.approve({ by: "eve", ...LEAD });
  await lost.pass(24 * 60 * 60_000);
  expect(lost.done).toMatchObject({ error: { code: "outcome_unknown" } });
});

test("a failing model ends the run with its error", async () => {
  const run = await atDesk([failModel("upstream_malformed"), failModel(), failModel()]);
  expect(run.done).toMatchObject({ reason: "error" });
});

test.each([
  [
    "a script that runs out",
    [call("desk__get_ticket", { id: 0 })],
    /The script ran out: the model is called for the 2nd time, and the script has 1 answer\. It was told the result of desk__get_ticket: OUT_OF_BOUNDS\./,
  ],
  [
    "a tool that the test does not have",
    [call("desk__refnud"), say("")],
    /The script calls desk__refnud, and the test has no such tool\. It has desk__get_ticket, desk__refund\./,
  ],
] as const)("the test is told about %s", async (_what, script, message) => {
  await expect(atDesk(script)).rejects.toThrow(message);
});

test("a model may invent a tool where the script says so", async () => {
  const run = await atDesk([call("desk__fire", {}, { isInvented: true }), say("No such tool.")]);
  expect(run.calls).toMatchObject([{ errors: [{ code: "unknown_tool" }] }]);
});

test("decidePolicy tells what allows, asks or refuses", async () => {
  const asked = (args: object, principal = ANN, policy: object = DESK_POLICY) =>
    decidePolicy(policy, {
      tool: refund,
      args,
      principal,
      connectionIds: ["con_desk"],
    });
  expect(await asked({ ticket: 7, amount: 40 })).toMatchObject({
    decision: "ask",
    requirements: [{ required: 2, roles: ["lead"], excludesRequester: true }],
  });
  expect(await asked({ ticket: 7, amount: 400 })).toMatchObject({
    decision: "refuse",
    gate: "ceilings",
    taxonomyClass: "BUDGET_EXHAUSTED",
  });
  expect(await asked({ ticket: 7 })).toMatchObject({ decision: "refuse", gate: "arguments" });
  expect(await asked({ ticket: 7, amount: 40 }, person("ann"))).toMatchObject({
    gate: "authorise",
  });
  expect(await asked({}, ANN, { allowedTools: [] })).toMatchObject({ gate: "policy" });
  const read = { tool: getTicket, args: { id: 7 }, principal: ANN };
  expect(await decidePolicy(DESK_POLICY, read)).toEqual({ decision: "allow" });
});

test("a grant that has expired refuses at its time", async () => {
  const [grant] = DESK_POLICY.grants;
  const policy = { ...DESK_POLICY, grants: [{ ...grant, expiresAt: "2026-03-01T00:00:00Z" }] };
  const question = {
    tool: refund,
    args: { ticket: 7, amount: 1 },
    principal: ANN,
    connectionIds: ["con_desk"],
  };
  const at = (now: string) => decidePolicy(policy, { ...question, now });
  expect(await at("2026-02-01T00:00:00Z")).toMatchObject({ decision: "ask" });
  expect(await at("2026-04-01T00:00:00Z")).toMatchObject({ decision: "refuse", gate: "authorise" });
});

test("checkPolicy lists what the API would refuse or warn about", () => {
  expect(checkPolicy(DESK_POLICY, DESK_TOOLS)).toEqual([]);
  expect(checkPolicy({ allowedTools: ["desk__refnud"] }, DESK_TOOLS)).toEqual([
    { pointer: "/allowedTools/0", message: "no such tool" },
  ]);
});
