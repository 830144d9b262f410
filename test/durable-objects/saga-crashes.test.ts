import { beforeAll, beforeEach, expect, test } from "vitest";
import type { RunState } from "../../src/protocol/run/state.ts";
import {
  planIncarnation,
  type CrashPlan,
  type PlannedIncarnation,
} from "../shared/crash-points.ts";
import { ringAlarm, tellOutcome } from "../shared/run-object.ts";
import { sampleOfGroups, sampleSeed } from "../shared/sample.ts";
import { script } from "../fakes/scripted-model.ts";
import { govern, seedPolicies, send, stateOf } from "../shared/worker.ts";
import { ANY_FLOW } from "../workers/lab-approvals.ts";
import { faults, journey, JOURNEY_TOOLS } from "../workers/lab-sagas.ts";

beforeAll(seedPolicies);
beforeEach(() => govern({ ...ANY_FLOW, allowedTools: JOURNEY_TOOLS }));

const MODES = ["before", "after", "durable"] as const;

/** A journey, what happens on it, and where its calls end. */
interface Journey {
  readonly fails?: string;
  readonly effects: readonly string[];
  readonly states: readonly string[];
}

const WHOLE: Journey = {
  effects: ["book_room", "book_train", "pay", "mail"],
  states: ["COMPLETED", "COMPLETED", "COMPLETED", "COMPLETED", "COMPLETED"],
};
const UNDONE: Journey = {
  fails: "pay",
  effects: ["book_room", "book_train", "cancel_train", "cancel_room"],
  states: ["FAILED_FINAL", "COMPENSATED", "COMPENSATED", "FAILED_FINAL", "COMPLETED", "COMPLETED"],
};
const HALF: Journey = {
  fails: "mail",
  effects: ["book_room", "book_train", "pay"],
  states: ["COMPLETED", "COMPLETED", "COMPLETED", "COMPLETED", "FAILED_FINAL"],
};

/** Starts a run, and asks again under the same key when the object crashed before it had a run. */
async function startUnderKey(content: string): Promise<string> {
  const key = `"${crypto.randomUUID()}"`;
  for (;;) {
    const response = await send("/v1/chat", {
      caller: "bendable",
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ messages: [{ role: "user", content }] }),
    });
    await response.text().catch(() => "");
    const runId = response.headers.get("x-run-id");
    if (runId !== null) return runId;
    expect(response.status).toBe(500);
  }
}

/**
 * Reports of a call with an unknown outcome that it had no effect; false without such a call. It is
 * the step that fails, when the object dies between its dispatch and its failure.
 */
async function reportNothingHappened({ runId, toolCalls }: RunState): Promise<boolean> {
  const open = toolCalls.find(({ awaitsOutcomeUntil }) => awaitsOutcomeUntil !== undefined);
  if (!open) return false;
  const { invocationId: invocation } = open;
  const body = { outcome: "not_committed" };
  await tellOutcome(runId, { invocation, body, caller: "bendable" });
  return true;
}

/** Makes a journey in an object that crashes as planned. */
async function travel(
  plan: CrashPlan,
  { fails, effects, states }: Journey,
): Promise<PlannedIncarnation> {
  journey.length = 0;
  faults.clear();
  if (fails !== undefined) faults.set(fails, "fails");
  const incarnation = planIncarnation(plan);
  const args = JSON.stringify({ where: "x", pin: "1" });
  const calls = [{ id: "call_1", name: "lab__book_journey", args }];
  const runId = await startUnderKey(script({ calls }, { text: ["done"] }));
  let isReported = false;
  await expect
    .poll(async () => {
      await ringAlarm(runId).catch(() => {});
      const state = await stateOf(runId, "bendable").catch(() => undefined);
      if (state && (await reportNothingHappened(state))) isReported = true;
      return state?.status;
    })
    .toBe("completed");
  expect(journey).toEqual(effects.map((effect) => `${effect} x`));
  const { toolCalls } = await stateOf(runId, "bendable");
  const ended = states.map((state) =>
    isReported && state === "FAILED_FINAL" ? "FAILED_RETRYABLE" : state,
  );
  expect(toolCalls.map(({ state }) => state)).toEqual(ended);
  return incarnation;
}

test.each([
  ["that makes every step", WHOLE],
  ["whose steps are undone", UNDONE],
  ["that cannot be undone any more", HALF],
])(
  "a crash at any write of a saga %s leaves one effect of each call, and the saga ends",
  async (_, planned) => {
    const { points } = await travel({ mode: "after" }, planned);
    const writes = points.map((label, index) => ({ at: index + 1, label }));
    const ofLabels = sampleOfGroups(writes, ({ label }) => label, 9);
    const sampled = sampleOfGroups(ofLabels, () => "any label", 2);
    let crashes = 0;
    for (const { at } of sampled) {
      const mode = MODES[(at + sampleSeed()) % 3] ?? "after";
      if ((await travel({ at, mode }, planned)).hasCrashed) crashes++;
    }
    expect(crashes).toBeGreaterThan(sampled.length / 2);
  },
  600_000,
);
