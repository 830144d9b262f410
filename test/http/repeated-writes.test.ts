import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RunState } from "../../src/protocol/run/state.ts";
import { sentWith, storeService } from "../workers/lab-writes.ts";
import {
  cancel,
  changeInvocation,
  crash,
  deadlinesOf,
  ring,
  ringAlarm,
  rowsOf,
  tellOutcome,
  untilState,
} from "../shared/run-object.ts";
import { script } from "../fakes/scripted-model.ts";
import {
  chat,
  chunksOf,
  govern,
  postChat,
  putConnection,
  runIdOf,
  seedPolicies,
  send,
  type Caller,
} from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  storeService.isDown = true;
  storeService.requests.length = 0;
  storeService.effects.clear();
  sentWith.length = 0;
});

const RESTS = { status: "waiting", toolCalls: [{ nextAttemptAt: expect.any(String) }] };

/** Starts a run whose write finds its service down. With `break`, the effect happens unseen. */
async function startResting({
  afterwards,
  caller = "lab",
}: { afterwards?: string; caller?: Caller } = {}): Promise<{
  readonly runId: string;
  readonly response: Response;
  readonly state: RunState;
}> {
  const call = { id: "store", name: "lab__store", args: JSON.stringify({ what: "x", afterwards }) };
  const response = await chat([{ calls: [call] }, { text: ["stored"] }], caller);
  const runId = runIdOf(response);
  return { runId, response, state: await untilState(runId, RESTS, caller) };
}

/** Lets the time of the planned attempt come. The object restarts. */
async function letTimeCome(runId: string): Promise<void> {
  await changeInvocation(runId, 1, { retry: { atMs: 1, after: 1 } });
  await ring(runId, "retry");
}

const seen = (): readonly number[] => {
  const { requests, effects } = storeService;
  return [requests.length, new Set(requests).size, effects.size];
};

test("a write whose service is down is repeated under its key by the alarm, and nobody is asked", async () => {
  const { runId, response, state } = await startResting();
  expect(state.toolCalls[0]).not.toHaveProperty("awaitsOutcomeUntil");
  const { nextAttemptAt = "" } = state.toolCalls[0] ?? {};
  // The stream ends while the run rests.
  const chunks = await chunksOf(response);
  const progress = { type: "tool-progress", toolCallId: "store", attempt: 2 };
  expect(chunks).toContainEqual({
    path: [],
    type: "data",
    data: [{ ...progress, retryAt: nextAttemptAt }],
  });
  storeService.isDown = false;
  await letTimeCome(runId);
  const ended = await untilState(runId, { status: "completed" });
  expect(ended.toolCalls).toMatchObject([{ state: "COMPLETED", attempts: 2 }]);
  expect(seen()).toEqual([2, 1, 1]);
});

test("an effect whose answer was lost happens once, although the write is repeated", async () => {
  const { runId } = await startResting({ afterwards: "break" });
  expect(seen()).toEqual([1, 1, 1]);
  storeService.isDown = false;
  await letTimeCome(runId);
  await untilState(runId, { status: "completed", toolCalls: [{ state: "COMPLETED" }] });
  expect(seen()).toEqual([2, 1, 1]);
});

test("a resting run holds its time, and neither a restart nor an early alarm repeats the write", async () => {
  const { runId } = await startResting();
  const deadlines = await deadlinesOf(runId);
  expect([typeof deadlines["retry"], typeof deadlines["wall_clock"]]).toEqual(["number", "number"]);
  await crash(runId);
  await ringAlarm(runId);
  // Woken early, the run finds that the time of the attempt has not come.
  await ring(runId, "retry");
  await untilState(runId, RESTS);
  expect((await deadlinesOf(runId))["retry"]).toBe(deadlines["retry"]);
  expect(seen()).toEqual([1, 1, 0]);
});

test("cancelling a resting run ends it at once, without another attempt", async () => {
  const { runId } = await startResting();
  storeService.isDown = false;
  expect((await cancel(runId)).status).toBe(200);
  const ended = await untilState(runId, { status: "cancelled" });
  expect(ended.toolCalls).toMatchObject([{ state: "EXPIRED" }]);
  expect(await deadlinesOf(runId)).not.toHaveProperty("retry");
  expect(seen()).toEqual([1, 1, 0]);
});

test("a resting run whose time is over ends without another attempt", async () => {
  const { runId } = await startResting();
  await ring(runId, "wall_clock");
  await untilState(runId, { status: "failed", error: { code: "budget_exhausted" } });
  expect(seen()).toEqual([1, 1, 0]);
});

test("a policy that now denies the tool stops the next attempt, and an operator is asked", async () => {
  await govern({ allowedTools: ["lab__store"] });
  const { runId } = await startResting({ caller: "bendable" });
  storeService.isDown = false;
  await govern({ allowedTools: [] });
  await letTimeCome(runId);
  const expected = { toolCalls: [{ awaitsOutcomeUntil: expect.any(String) }] };
  await untilState(runId, expected, "bendable");
  expect(seen()).toEqual([1, 1, 0]);
});

test("an operator's word about a resting call is refused: nobody was asked", async () => {
  const { runId } = await startResting();
  const told = await tellOutcome(runId, { body: { outcome: "committed" } });
  expect(told.status).toBe(409);
  await untilState(runId, RESTS);
});

test("a message to a resting run does not stop the write, and is answered after it", async () => {
  const { runId } = await startResting();
  const said = await send(`/v1/runs/${runId}/messages`, {
    caller: "lab",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content: script({ text: ["heard you"] }) }),
  });
  expect(said.status).toBe(202);
  storeService.isDown = false;
  await letTimeCome(runId);
  await untilState(runId, { status: "completed", toolCalls: [{ state: "COMPLETED" }] });
  expect(seen()).toEqual([2, 1, 1]);
});

test("after the contract's time an operator is asked", async () => {
  const { runId } = await startResting();
  await changeInvocation(runId, 1, { dispatchedAtMs: Date.now() - 600_000 });
  await letTimeCome(runId);
  await untilState(runId, { toolCalls: [{ awaitsOutcomeUntil: expect.any(String), attempts: 2 }] });
  expect((await deadlinesOf(runId))["wall_clock"]).toBeNull();
});

describe("a repeated write whose connection changed", () => {
  const sending = { id: "send", name: "lab__send_abroad", args: '{"what":"x"}' };
  const putToken = (token: string): Promise<void> =>
    putConnection("service", { kind: "bearer", token }, "lab");

  /** Starts a run of which one attempt reached the service, and puts another token under the id. */
  async function startAndChange(token: string): Promise<string> {
    await putToken("token-of-the-first-account");
    storeService.isDown = true;
    const content = script({ calls: [sending] }, { text: ["sent"] });
    const body = { messages: [{ role: "user", content }], connectionIds: ["service"] };
    const runId = runIdOf(await postChat(body, "lab"));
    await untilState(runId, RESTS);
    storeService.isDown = false;
    await putToken(token);
    await letTimeCome(runId);
    return runId;
  }

  test("does not reach another account: an operator is asked", async () => {
    const runId = await startAndChange("token-of-another-account");
    const asked = { toolCalls: [{ awaitsOutcomeUntil: expect.any(String), attempts: 1 }] };
    await untilState(runId, asked);
    expect(sentWith).toEqual(["token-of-the-first-account"]);
    const [{ binding } = {}] = await rowsOf(runId, "SELECT binding FROM invocations");
    expect(binding).toMatch(/hmac-sha256:/);
    expect(binding).not.toContain("token-of");
  });

  test("goes on when the same account is stored again", async () => {
    const runId = await startAndChange("token-of-the-first-account");
    await untilState(runId, { status: "completed" });
    expect(sentWith).toHaveLength(2);
  });
});
