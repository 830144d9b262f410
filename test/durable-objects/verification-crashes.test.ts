import { beforeAll, expect, test } from "vitest";
import type { AwaitedOutcome } from "../../src/protocol/run/awaited-outcome.ts";
import { readAudit } from "../shared/audit-pages.ts";
import {
  planIncarnation,
  type CrashPlan,
  type PlannedIncarnation,
} from "../shared/crash-points.ts";
import { changeInvocation, ringAlarm, tellOutcome, untilState } from "../shared/run-object.ts";
import { sampleOfGroups, sampleSeed } from "../shared/sample.ts";
import { bindings, chat, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";
import { readers, reads } from "../workers/lab-verification.ts";

beforeAll(seedPolicies);

const MODES = ["before", "after", "durable"] as const;
type Outcome = "verified" | "mismatch";

/** Makes a write whose run ends before the state is read. The first read never answers. */
async function post(topic: string): Promise<string> {
  readers.set(topic, () => new Promise(() => {}));
  const args = JSON.stringify({ topic });
  const call = { id: "post", name: "lab__post", args };
  const response = await chat([{ calls: [call] }, { text: ["posted"] }], "archive");
  await response.text();
  const runId = runIdOf(response);
  await untilState(runId, { status: "completed" }, "archive");
  await expect.poll(() => reads.get(topic)).toBe(1);
  return runId;
}

/** Lets the next incarnation read at once. Contract: no read is under way. */
const hurry = (runId: string): Promise<void> =>
  changeInvocation(runId, 1, { verification: { attempts: 1, nextAtMs: 1 } });

const statusOf = async (runId: string): Promise<string | undefined> =>
  (await stateOf(runId, "archive").catch(() => undefined))?.toolCalls[0]?.verification?.status;

async function listed(runId: string): Promise<readonly AwaitedOutcome[]> {
  const response = await send("/v1/outcomes?limit=100", { caller: "archive" });
  const { outcomes } = await response.json<{ outcomes: readonly AwaitedOutcome[] }>();
  return outcomes.filter((call) => call.runId === runId);
}

/** The verifications of a run in the audit log. */
async function audited(runId: string): Promise<readonly unknown[]> {
  const { records } = await readAudit(`?run=${runId}&limit=100`, "archive");
  const told = records.map(({ entry }) => entry);
  return told
    .filter(({ action }) => action === "verification.ended")
    .map(({ decision }) => decision);
}

/** Reads the state after a write in an object that crashes as planned. */
async function verify(plan: CrashPlan, outcome: Outcome): Promise<PlannedIncarnation> {
  const topic = crypto.randomUUID();
  const runId = await post(topic);
  readers.set(topic, () => ({ kind: outcome }));
  await hurry(runId);
  const objectId = bindings.RUNS.idFromName(runId).toString();
  const incarnation = planIncarnation({ ...plan, objectId });
  let isHurried = false;
  await expect
    .poll(async () => {
      await ringAlarm(runId).catch(() => {});
      const status = await statusOf(runId);
      // The incarnation that crashed counted its read. The next one follows seconds later.
      if (incarnation.hasCrashed && status === "pending" && !isHurried) {
        await hurry(runId);
        isHurried = true;
      }
      return status;
    })
    .toBe(outcome);
  await expect.poll(() => audited(runId)).toEqual([outcome]);
  const awaits = outcome === "mismatch" ? [`${runId}/inv_1`] : [];
  const idsOf = async (): Promise<readonly string[]> =>
    (await listed(runId)).map((call) => `${call.runId}/${call.invocationId}`);
  await expect.poll(idsOf).toEqual(awaits);
  // Nothing is delivered twice, however often the alarm rings, also where this one crashes.
  await ringAlarm(runId).catch(() => {});
  expect([await audited(runId), await idsOf()]).toEqual([[outcome], awaits]);
  if (outcome === "mismatch") {
    const review = { body: { outcome: "reviewed" }, caller: "archive" } as const;
    // The planned crash may cut off the report itself: then the operator reports again.
    await expect
      .poll(async () => {
        await tellOutcome(runId, review).catch(() => {});
        return idsOf();
      })
      .toEqual([]);
  }
  return incarnation;
}

test.each(["verified", "mismatch"] as const)(
  "a crash at any write around a read that finds %s leads to one record under one id",
  async (outcome) => {
    const { points } = await verify({ mode: "after" }, outcome);
    const writes = points.map((label, index) => ({ at: index + 1, label }));
    const ofLabels = sampleOfGroups(writes, ({ label }) => label, 4);
    const sampled = sampleOfGroups(ofLabels, () => "any label", 2);
    let crashes = 0;
    for (const { at } of sampled) {
      const mode = MODES[(at + sampleSeed()) % 3] ?? "after";
      if ((await verify({ at, mode }, outcome)).hasCrashed) crashes++;
    }
    expect(crashes).toBeGreaterThan(sampled.length / 2);
  },
  600_000,
);
