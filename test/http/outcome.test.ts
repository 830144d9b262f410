import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { written } from "../workers/lab-writes.ts";
import {
  crash,
  deadlinesOf,
  refusalOf,
  ring,
  rowsOf,
  tellOutcome,
  untilState,
  changeInvocation,
} from "../shared/run-object.ts";
import { releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import {
  chat,
  chunksOf,
  postChat,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
} from "../shared/worker.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

beforeAll(seedPolicies);
beforeEach(() => {
  written.length = 0;
});

const payment = (what: string, afterwards: string): NonNullable<ScriptedStep["calls"]>[number] => ({
  id: `pay_${what}`,
  name: "lab__pay",
  args: JSON.stringify({ what, afterwards }),
});

/** Starts a run whose payment is made, and whose answer is lost. */
async function startInDoubt(what: string): Promise<{ runId: string; response: Response }> {
  const response = await chat([{ calls: [payment(what, "break")] }, { text: ["so be it"] }], "lab");
  const runId = runIdOf(response);
  await untilState(runId, { status: "waiting" });
  return { runId, response };
}

const COMMITTED = { outcome: "committed" };
const NOT_COMMITTED = { outcome: "not_committed" };

test("a run with an unknown outcome waits, and states for whom, about what and until when", async () => {
  const before = Date.now();
  const { runId, response } = await startInDoubt("rent");
  const { toolCalls } = await stateOf(runId, "lab");
  expect(toolCalls).toMatchObject([{ invocationId: "inv_1", state: "PENDING", attempts: 1 }]);
  const { awaitsOutcomeUntil = "", outcome, endedAt } = toolCalls[0] ?? {};
  expect(Date.parse(awaitsOutcomeUntil) - before).toBeGreaterThanOrEqual(86_400_000);
  expect([outcome, endedAt]).toEqual([undefined, undefined]);
  await tellOutcome(runId, { body: COMMITTED });
  const chunks = await chunksOf(response);
  expect(chunks).toContainEqual({
    path: [],
    type: "data",
    data: [{ type: "outcome-awaited", toolCallId: "pay_rent", until: awaitsOutcomeUntil }],
  });
});

test.each([
  [COMMITTED, "COMPLETED", "SUCCESS"],
  [NOT_COMMITTED, "FAILED_RETRYABLE", "DEPENDENCY_UNAVAILABLE"],
])(
  "the word of an operator, %j, settles the call, and the run goes on",
  async (body, state, outcome) => {
    const { runId } = await startInDoubt(`word-${state}`);
    const answer = await tellOutcome(runId, { body });
    expect([answer.status, (await answer.json<{ runId: string }>()).runId]).toEqual([200, runId]);
    const ended = await untilState(runId, { status: "completed" });
    expect(ended).toMatchObject({
      recoveries: 0,
      toolCalls: [{ state, outcome, resolvedBy: "user:lab" }],
    });
    expect(ended.toolCalls[0]).not.toHaveProperty("awaitsOutcomeUntil");
    expect(written).toEqual([`pay: word-${state}`]);
  },
);

test("a repeated outcome is accepted once, and a different one is refused", async () => {
  const { runId } = await startInDoubt("twice");
  const told = () => tellOutcome(runId, { body: COMMITTED });
  const both = await Promise.all([told(), told()]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  const otherwise = await tellOutcome(runId, { body: NOT_COMMITTED });
  expect(await refusalOf(otherwise)).toEqual([409, "outcome_not_awaited"]);
  await untilState(runId, { status: "completed" });
  expect((await told()).status).toBe(200);
  expect((await stateOf(runId, "lab")).toolCalls).toMatchObject([{ state: "COMPLETED" }]);
});

describe("refuses an outcome", () => {
  let shared: Promise<{ readonly runId: string }> | undefined;
  const start = (): Promise<{ readonly runId: string }> => (shared ??= startInDoubt("refused"));

  test.each([
    ["on an invocation that is not there", { invocation: "inv_2" }, [404, "invocation_not_found"]],
    ["on an id of another form", { invocation: "inv_01" }, [404, "invocation_not_found"]],
    ["on a bare number", { invocation: "1" }, [404, "invocation_not_found"]],
    ["of another tenant", { caller: "rival" }, [404, "run_not_found"]],
    ["without the scope", { caller: "talker" }, [403, "insufficient_scope"]],
    ["that is none of the two", { body: { outcome: "expired" } }, [422, "invalid_request"]],
    ["that says more", { body: { ...COMMITTED, by: "user:eve" } }, [422, "invalid_request"]],
    ["that says nothing", { body: {} }, [422, "invalid_request"]],
  ] as const)("%s", async (_name, told, refusal) => {
    const { runId } = await start();
    const answer = await tellOutcome(runId, { body: COMMITTED, ...told });
    expect(await refusalOf(answer)).toEqual(refusal);
    expect(await stateOf(runId, "lab")).toMatchObject({ status: "waiting" });
  });

  test("another tenant's run is like one that never was", async () => {
    const ask = async (id: string): Promise<string> => {
      const told = { body: COMMITTED, caller: "rival" } as const;
      return (await tellOutcome(id, told)).text();
    };
    const { runId } = await start();
    expect(await ask(runId)).toBe(await ask(`run_${"0".repeat(32)}_${"0".repeat(32)}`));
  });

  test("on a call that has ended by itself", async () => {
    const response = await chat(
      [{ calls: [{ id: "ok", name: "lab__pay", args: '{"what":"fine"}' }] }, { text: ["ok"] }],
      "lab",
    );
    await response.text();
    const answer = await tellOutcome(runIdOf(response), { body: NOT_COMMITTED });
    expect(await refusalOf(answer)).toEqual([409, "outcome_not_awaited"]);
  });
});

test("without an answer in time the call ends with an unknown outcome, the run fails, and its conversation can continue", async () => {
  const { runId } = await startInDoubt("late");
  await changeInvocation(runId, 1, { awaitedUntilMs: 1 });
  await ring(runId, "outcome");
  expect(await untilState(runId, { status: "failed" })).toMatchObject({
    error: { code: "outcome_unknown" },
    toolCalls: [{ state: "EXPIRED", outcome: "UNKNOWN_ERROR" }],
  });
  const late = await tellOutcome(runId, { body: COMMITTED });
  expect(await refusalOf(late)).toEqual([409, "outcome_not_awaited"]);
  const messages = [{ role: "user", content: script({ text: ["on we go"] }) }];
  const next = await postChat({ messages, previousRunId: runId }, "lab");
  expect(await next.text()).toContain("on we go");
  expect(written).toEqual(["pay: late"]);
});

test("an outcome after its deadline is refused, even when the alarm is late", async () => {
  const { runId } = await startInDoubt("overdue");
  await changeInvocation(runId, 1, { awaitedUntilMs: 1 });
  const late = await tellOutcome(runId, { body: COMMITTED });
  expect(await refusalOf(late)).toEqual([409, "outcome_not_awaited"]);
});

test("an outcome for a run that is being cancelled is refused, not accepted and dropped", async () => {
  const { runId } = await startInDoubt("stopping");
  await rowsOf(runId, "UPDATE log SET stop = 'cancelled'");
  await crash(runId);
  const word = await tellOutcome(runId, { body: COMMITTED });
  expect(await refusalOf(word)).toEqual([409, "outcome_not_awaited"]);
});

test("of two calls with unknown outcomes, the one past its deadline is closed and the other still waits", async () => {
  const calls = [payment("one", "break"), payment("two", "break")];
  const response = await chat([{ calls }, { text: ["end"] }], "lab");
  const runId = runIdOf(response);
  await untilState(runId, { status: "waiting" });
  await crash(runId);
  await changeInvocation(runId, 1, { awaitedUntilMs: 1 });
  await ring(runId, "outcome");
  await untilState(runId, {
    status: "waiting",
    toolCalls: [{ state: "EXPIRED" }, { state: "PENDING" }],
  });
  await tellOutcome(runId, { invocation: "inv_2", body: COMMITTED });
  await untilState(runId, {
    status: "failed",
    toolCalls: [{ state: "EXPIRED" }, { state: "COMPLETED" }],
  });
  await response.body?.cancel().catch(() => {});
});

test("an answer that comes while the step still runs another call is not lost", async () => {
  const calls = [payment("early", "break"), payment("slow", "hold")];
  const response = await chat([{ calls }, { text: ["end"] }], "lab");
  const runId = runIdOf(response);
  const [first] = (
    await untilState(runId, { toolCalls: [{ awaitsOutcomeUntil: expect.anything() }, {}] })
  ).toolCalls;
  expect(first?.state).toBe("PENDING");
  expect(await stateOf(runId, "lab")).toMatchObject({ status: "running" });
  expect((await tellOutcome(runId, { body: COMMITTED })).status).toBe(200);
  await fetch(releaseUrl("slow"));
  await response.text();
  expect(await stateOf(runId, "lab")).toMatchObject({
    status: "completed",
    toolCalls: [{ state: "COMPLETED" }, { state: "COMPLETED" }],
  });
  expect(written).toEqual(["pay: early", "pay: slow"]);
});

test("a run that waits outlives a crash: it waits on in its epoch, and an answer still settles it", async () => {
  const { runId, response } = await startInDoubt("crashed");
  const { outcome } = await deadlinesOf(runId);
  await crash(runId);
  await response.text().catch(() => {});
  expect(await stateOf(runId, "lab")).toMatchObject({ status: "waiting", recoveries: 0 });
  expect(await deadlinesOf(runId)).toMatchObject({ outcome, wall_clock: null });
  expect((await tellOutcome(runId, { body: COMMITTED })).status).toBe(200);
  await untilState(runId, { status: "completed", toolCalls: [{ state: "COMPLETED" }] });
  expect(written).toEqual(["pay: crashed"]);
});

describe("a call that a crash cut short", () => {
  /** Crashes a run while its tool holds, after its effect. */
  async function crashIn(name: string, what: string): Promise<string> {
    const call = { id: "cut", name, args: JSON.stringify({ what, afterwards: "hold" }) };
    const response = await chat([{ calls: [call] }, { text: ["end"] }], "lab");
    const runId = runIdOf(response);
    await expect.poll(() => written.length).toBe(1);
    await crash(runId);
    await response.text().catch(() => {});
    return runId;
  }

  test.each([
    ["is asked again under its key, where that is safe", "lab__file"],
    ["is looked up, where its contract can", "lab__book"],
  ])("%s", async (_name, tool) => {
    const runId = await crashIn(tool, `cut-${tool}`);
    await untilState(runId, {
      status: "completed",
      recoveries: 1,
      toolCalls: [{ state: "COMPLETED" }],
    });
    expect(written.length).toBe(1);
  });

  test("waits for an operator, where neither is", async () => {
    const runId = await crashIn("lab__pay", "cut-pay");
    await untilState(runId, { status: "waiting", recoveries: 1 });
    await tellOutcome(runId, { body: COMMITTED });
    await untilState(runId, { status: "completed", toolCalls: [{ state: "COMPLETED" }] });
    expect(written).toEqual(["pay: cut-pay"]);
  });
});

test("a message to a waiting run is answered when the run continues", async () => {
  const { runId } = await startInDoubt("mail");
  const said = await send(`/v1/runs/${runId}/messages`, {
    caller: "lab",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content: script({ text: ["heard you"] }) }),
  });
  expect(said.status).toBe(202);
  await tellOutcome(runId, { body: COMMITTED });
  await untilState(runId, { status: "completed" });
  const events = await send(`/v1/runs/${runId}/events`, { caller: "lab" });
  expect(await events.text()).toContain("heard you");
});
