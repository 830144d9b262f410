import { beforeAll, expect, test } from "vitest";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import { crashes } from "../workers/lab-crashes.ts";
import {
  APPROVE,
  askFor,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  openOf,
  readApproval,
  REJECT,
  viewOf,
  type Asked,
} from "../shared/people.ts";
import {
  cancel,
  changeDeadline,
  crash,
  ringAlarm,
  rowsOf,
  untilState,
} from "../shared/run-object.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { seedPolicies, send, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);

const ALL_RACES = Array.from({ length: 100 }, (_, index) => index);
/** Even and odd races differ in which request goes first. A sample takes one of 25 of each. */
const RACES = sampleOfGroups(ALL_RACES, (index) => index % 2, 25);
/** Half a sample, so that a change of the policy goes first in one batch and last in another. */
const AT_A_TIME = 2;

/** Runs every race once, several at a time, each with its own name. */
async function race(kind: string, run: (what: string, index: number) => Promise<void>) {
  for (let first = 0; first < RACES.length; first += AT_A_TIME) {
    const indexes = RACES.slice(first, first + AT_A_TIME);
    await Promise.all(indexes.map((index) => run(`${kind} ${index}`, index)));
  }
}

function askToArchive(what: string): Promise<Asked> {
  return askFor([callOf("lab__archive", { what })]);
}

function say(runId: string, content: string): Promise<Response> {
  return send(`/v1/runs/${runId}/messages`, {
    caller: "ann",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content }),
  });
}

/** Number of effects with this name. */
function effectsOf(what: string): number {
  return moved.filter((effect) => effect.endsWith(what)).length;
}

/** Starts both requests at once; in every second race the second request goes first. */
async function together<A, B>(
  index: number,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> {
  if (index % 2 === 0) return Promise.all([first(), second()]);
  const later = second();
  return Promise.all([first(), later]);
}

test("of two simultaneous approvals one counts, and the effect happens once", async () => {
  await race("twice", async (what, index) => {
    const { runId, approvalId } = await askToArchive(what);
    const answers = await together(
      index,
      () => decide(approvalId, "bob", APPROVE),
      () => decide(approvalId, "eve", APPROVE),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    await ended(runId);
    expect(await viewOf(approvalId, "bob")).toMatchObject({ status: "approved", approvals: 1 });
    expect(effectsOf(what)).toBe(1);
  });
}, 120_000);

test("of a simultaneous approval and rejection the first one decides", async () => {
  let approved = 0;
  await race("either", async (what, index) => {
    const { runId, approvalId } = await askToArchive(what);
    const [yes, no] = await together(
      index,
      () => decide(approvalId, "bob", APPROVE),
      async () => {
        // An approval compares its terms first, so a rejection alone would always be faster.
        if (index % 2 === 0) await readApproval(approvalId, "eve");
        return decide(approvalId, "eve", REJECT);
      },
    );
    expect([yes.status, no.status].toSorted((a, b) => a - b)).toEqual([200, 409]);
    await ended(runId);
    const { status } = await viewOf(approvalId, "bob");
    expect([status, effectsOf(what)]).toEqual(
      yes.status === 200 ? ["approved", 1] : ["rejected", 0],
    );
    approved += effectsOf(what);
  });
  expect(approved).toBeGreaterThan(0);
  expect(approved).toBeLessThan(RACES.length);
}, 120_000);

test("an approval that races the expiry either counts everywhere or nowhere", async () => {
  await race("late", async (what, index) => {
    const { runId, approvalId } = await askToArchive(what);
    await rowsOf(
      runId,
      `UPDATE approvals SET body = json_set(body, '$.expiresAtMs', ${Date.now() + (index % 7)})`,
    );
    await changeDeadline(runId, "approval");
    const [answer] = await together(
      index,
      () => decide(approvalId, "bob", APPROVE),
      () => ringAlarm(runId),
    );
    if ((await stateOf(runId, "ann")).status === "waiting") await ringAlarm(runId);
    await ended(runId);
    const { status } = await viewOf(approvalId, "bob");
    expect([answer.status, status, effectsOf(what)]).toEqual(
      answer.status === 200 ? [200, "approved", 1] : [409, "expired", 0],
    );
  });
}, 120_000);

test("an approval that races a cancellation causes at most one effect", async () => {
  await race("stopped", async (what, index) => {
    const { runId, approvalId } = await askToArchive(what);
    const [answer, stopped] = await together(
      index,
      () => decide(approvalId, "bob", APPROVE),
      () => cancel(runId, "ann"),
    );
    expect(stopped.status).toBe(200);
    expect(effectsOf(what)).toBeLessThanOrEqual(1);
    if (answer.status !== 200) expect([answer.status, effectsOf(what)]).toEqual([409, 0]);
    expect((await viewOf(approvalId, "bob")).status).toBe(
      answer.status === 200 ? "approved" : "withdrawn",
    );
    expect((await stateOf(runId, "ann")).status).toMatch(/^(cancelled|completed)$/);
  });
}, 120_000);

test("an approval that races an edit never runs arguments that an approver did not see", async () => {
  await race("edited", async (what, index) => {
    const { runId, approvalId } = await askFor([callOf("lab__transfer", { to: what, amount: 3 })]);
    await decide(approvalId, "bob", APPROVE);
    const edited = { ...APPROVE, arguments: { to: `thief of ${what}`, amount: 9 } };
    const answers = await together(
      index,
      () => decide(approvalId, "cat", APPROVE),
      () => decide(approvalId, "eve", edited),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    if (answers[0].status === 200) await ended(runId);
    else await untilState(runId, { status: "waiting" }, "ann");
    const effects = moved.filter((effect) => effect.endsWith(what));
    expect(effects).toEqual(answers[0].status === 200 ? [`3 to ${what}`] : []);
    await cancel(runId, "ann");
  });
}, 240_000);

test("an approval that races a steering message causes at most one effect", async () => {
  await race("steered", async (what, index) => {
    const { runId, approvalId } = await askToArchive(what);
    const [answer, said] = await together(
      index,
      () => decide(approvalId, "bob", APPROVE),
      () => say(runId, "rather not"),
    );
    expect([200, 409]).toContain(answer.status);
    await ended(runId);
    expect(effectsOf(what)).toBeLessThanOrEqual(answer.status === 200 ? 1 : 0);
    const { toolCalls } = await stateOf(runId, "ann");
    expect(toolCalls[0]?.state).toBe(effectsOf(what) === 1 ? "COMPLETED" : "FAILED_FINAL");
    expect([202, 409]).toContain(said.status);
  });
}, 120_000);

test("an approval that races a crash counts once, and an accepted approval is not lost", async () => {
  await race("word", async (what, index) => {
    const { runId, approvalId } = await askToArchive(what);
    await together(
      index,
      () => decide(approvalId, "bob", APPROVE).catch(() => undefined),
      () => crash(runId),
    );
    const again = await decide(approvalId, "bob", APPROVE);
    expect(again.status).toBe(200);
    await ended(runId);
    expect(effectsOf(what)).toBe(1);
  });
}, 240_000);

test("a crash after the approval is consumed causes one effect, and the run ends", async () => {
  await race("crashed", async (what) => {
    const { runId, approvalId } = await askFor([callOf("lab__transfer", { to: what, amount: 3 })]);
    crashes.set(runId, () => void crash(runId));
    await decide(approvalId, "bob", APPROVE);
    await decide(approvalId, "cat", APPROVE).catch(() => undefined);
    expect((await ended(runId)).recoveries).toBe(1);
    expect(await viewOf(approvalId, "bob")).toHaveProperty("consumedAt");
    expect(effectsOf(what)).toBe(1);
  });
}, 240_000);

/**
 * Races approvals with a change of the policy, several at a time, since the runs share the policy.
 * Answers the statuses of the votes, after every call has ended with its one effect.
 */
async function racePolicy(kind: string, changed: object): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let first = 0; first < RACES.length; first += AT_A_TIME) {
    await changeGuildPolicy(GUILD_POLICY);
    const names = RACES.slice(first, first + AT_A_TIME).map((index) => `${kind} ${index}`);
    const asked = await Promise.all(names.map(askToArchive));
    const vote = ({ approvalId }: Asked): Promise<Response> => decide(approvalId, "bob", APPROVE);
    const [answers] = await together(
      first / AT_A_TIME,
      () => Promise.all(asked.map(vote)),
      () => changeGuildPolicy(changed),
    );
    statuses.push(...answers.map(({ status }) => status));
    for (const [at, { runId }] of asked.entries()) {
      await approveWhatIsOpen(runId);
      expect(effectsOf(names[at] ?? "")).toBe(1);
    }
  }
  await changeGuildPolicy(GUILD_POLICY);
  return statuses;
}

/** Approves each request that a run makes again, until the run has ended. */
async function approveWhatIsOpen(runId: string): Promise<void> {
  for (;;) {
    const state = await stateOf(runId, "ann");
    if (state.status !== "waiting" && state.status !== "running") {
      expect(state.toolCalls[0]).toMatchObject({ outcome: "SUCCESS", state: "COMPLETED" });
      return;
    }
    for (const approvalId of openOf(state)) await decide(approvalId, "bob", APPROVE);
    // Without a pause the reads leave the run no turn of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("an approval that races a change that does not touch it counts", async () => {
  const origins = ["https://other.example"];
  const statuses = await racePolicy("beside", { ...GUILD_POLICY, origins });
  expect(new Set(statuses)).toEqual(new Set([200]));
}, 240_000);

test("an approval that races a change of its terms counts, or is requested again", async () => {
  const rule = { tools: ["lab__archive"], pattern: "async_review", ttlSeconds: 1_800 };
  const statuses = await racePolicy("terms", { ...GUILD_POLICY, approvals: [rule] });
  expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
}, 240_000);
