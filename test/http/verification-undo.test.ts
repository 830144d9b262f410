import { beforeAll, describe, expect, test } from "vitest";
import type { AwaitedOutcome } from "../../src/protocol/run/awaited-outcome.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import { read } from "../shared/invoke.ts";
import { APPROVE, callOf, decide, ended, openOf, REJECT } from "../shared/people.ts";
import {
  changeInvocation,
  deadlinesOf,
  ring,
  tellOutcome,
  untilState,
} from "../shared/run-object.ts";
import { chat, govern, runIdOf, send, stateOf } from "../shared/worker.ts";
import { reads, readers, stuck, wall } from "../workers/lab-verification.ts";

const CALLER = "victor";
const OPERATOR = "bendable";

beforeAll(() =>
  govern({
    allowedTools: [
      "lab__hang",
      "lab__take_down",
      "lab__hang_stamped",
      "lab__stamp",
      "lab__hang_and_announce",
      "lab__announce",
    ],
  }),
);

/** Lets a model call a tool, and waits for the end of its run. */
async function make(tool: string, topic: string): Promise<string> {
  const response = await chat([{ calls: [callOf(tool, { topic })] }, { text: ["ok"] }], CALLER);
  await response.text();
  await ended(runIdOf(response), CALLER);
  return runIdOf(response);
}

/** Asks to undo a call. Answers the run that waits for the person to agree. */
async function undo(runId: string): Promise<string> {
  const path = `/v1/runs/${runId}/invocations/inv_1/compensate`;
  return (await read(await send(path, { caller: CALLER, method: "POST" }))).runId;
}

/** Answers the approval that a run waits for. */
async function answer(runId: string, decision: object): Promise<void> {
  const waiting = await untilState(runId, { status: "waiting" }, CALLER);
  const [approvalId = "none"] = openOf(waiting);
  expect((await decide(approvalId, CALLER, decision)).status).toBe(200);
}

/** Lets the hour until a verification pass. */
async function passTime(runId: string, invocation = 1, attempts = 0): Promise<void> {
  await changeInvocation(runId, invocation, { verification: { attempts, nextAtMs: 1 } });
  // The object wakes, and plans what is due.
  await stateOf(runId, CALLER);
  if ("verification" in (await deadlinesOf(runId))) await ring(runId, "verification");
}

function untilVerified(runId: string, expected: object): Promise<RunState> {
  return untilState(runId, { toolCalls: [{ verification: expected }] }, CALLER);
}

async function untilCall(runId: string, invocation: number, expected: object): Promise<void> {
  const read = async () => (await stateOf(runId, CALLER)).toolCalls[invocation - 1];
  await expect.poll(read).toMatchObject(expected);
}

const untilUndo = (runId: string, status: string): Promise<void> =>
  untilCall(runId, 1, { undo: { status } });

async function mismatchesOf(runId: string): Promise<readonly AwaitedOutcome[]> {
  const response = await send("/v1/outcomes?limit=100", { caller: OPERATOR });
  const { outcomes } = await response.json<{ outcomes: readonly AwaitedOutcome[] }>();
  return outcomes.filter((call) => call.runId === runId && call.mismatch);
}

const PENDING = { status: "pending", attempts: 0 };
const UNDONE = { status: "unknown", reason: "compensated" };
const readsOf = (topic: string): number => reads.get(topic) ?? 0;

describe("while a write is being undone, its verification waits, and the write", () => {
  test("is verified once people have refused the undo", async () => {
    const runId = await make("lab__hang", "kept");
    const undoing = await undo(runId);
    await passTime(runId);
    await untilVerified(runId, PENDING);
    expect(readsOf("kept")).toBe(0);
    await answer(undoing, REJECT);
    await untilVerified(runId, { status: "verified", attempts: 1 });
    expect((await stateOf(runId, CALLER)).toolCalls[0]?.undo?.status).toBe("available");
  });

  test("is not read once it is undone", async () => {
    const runId = await make("lab__hang", "gone");
    const undoing = await undo(runId);
    await passTime(runId);
    await answer(undoing, APPROVE);
    await untilVerified(runId, UNDONE);
    expect(readsOf("gone")).toBe(0);
    expect(wall.has("gone")).toBe(false);
  });

  test.each([
    ["committed", UNDONE, 0],
    ["not_committed", { status: "verified" }, 1],
  ])("whose undo failed is known when an operator reports %s", async (outcome, ends, made) => {
    const topic = `stuck ${outcome}`;
    stuck.add(topic);
    const runId = await make("lab__hang", topic);
    await answer(await undo(runId), APPROVE);
    await untilUndo(runId, "failed");
    await passTime(runId);
    await untilVerified(runId, PENDING);
    await tellOutcome(runId, { body: { outcome }, caller: OPERATOR });
    await untilVerified(runId, ends);
    expect(readsOf(topic)).toBe(made);
  });

  test("is read again when an undo began during the read and was refused", async () => {
    const late = Promise.withResolvers<object>();
    readers.set("torn", () => late.promise);
    const runId = await make("lab__hang", "torn");
    await passTime(runId);
    await expect.poll(() => readsOf("torn")).toBe(1);
    const undoing = await undo(runId);
    late.resolve({ kind: "mismatch" });
    readers.delete("torn");
    await answer(undoing, REJECT);
    await untilUndo(runId, "available");
    await passTime(runId, 1, 1);
    await untilVerified(runId, { status: "verified", attempts: 2 });
    expect(await mismatchesOf(runId)).toEqual([]);
  });
});

test("a mismatch of a write is on the list until the write is undone", async () => {
  readers.set("wrong", () => ({ kind: "mismatch" }));
  const runId = await make("lab__hang", "wrong");
  await passTime(runId);
  await untilVerified(runId, { status: "mismatch" });
  await expect.poll(() => mismatchesOf(runId)).toHaveLength(1);
  const undoing = await undo(runId);
  expect(await mismatchesOf(runId)).toHaveLength(1);
  await answer(undoing, APPROVE);
  await untilUndo(runId, "undone");
  await expect.poll(() => mismatchesOf(runId)).toEqual([]);
});

describe("a step of a saga", () => {
  test("that its saga undoes is not read before it is known whether it is undone", async () => {
    stuck.add("half");
    const calls = [callOf("lab__hang_stamped", { topic: "half" })];
    const response = await chat([{ calls }, { text: ["ok"] }], CALLER);
    const runId = runIdOf(response);
    await response.text();
    await untilState(runId, { status: "waiting" }, CALLER);
    await passTime(runId, 2);
    await untilCall(runId, 2, { verification: PENDING });
    await answer(runId, APPROVE);
    await untilCall(runId, 2, { verification: UNDONE });
    expect([readsOf("half page"), wall.has("half page")]).toEqual([0, false]);
    expect(await mismatchesOf(runId)).toEqual([]);
  });

  test("of a risky class is verified; one approval covers the saga, which has no state of its own", async () => {
    const calls = [callOf("lab__hang_and_announce", { topic: "risky" })];
    const response = await chat([{ calls }, { text: ["ok"] }], CALLER);
    const runId = runIdOf(response);
    await response.text();
    await answer(runId, APPROVE);
    const { toolCalls } = await ended(runId, CALLER);
    expect(toolCalls.map(({ name, state }) => [name, state])).toEqual([
      ["lab__hang_and_announce", "COMPLETED"],
      ["lab__hang", "COMPLETED"],
      ["lab__announce", "COMPLETED"],
    ]);
    expect(toolCalls[0]).not.toHaveProperty("verification");
    await untilCall(runId, 3, { verification: { status: "verified" } });
  });

  test("is not verified after a person has undone the saga as a whole", async () => {
    const runId = await make("lab__hang_stamped", "whole");
    await answer(await undo(runId), APPROVE);
    await untilUndo(runId, "undone");
    await passTime(runId, 2);
    await untilCall(runId, 2, { verification: UNDONE });
    expect([readsOf("whole page"), wall.has("whole page")]).toEqual([0, false]);
    expect(await mismatchesOf(runId)).toEqual([]);
  });
});
