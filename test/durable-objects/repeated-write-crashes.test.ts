import { beforeAll, expect, test } from "vitest";
import {
  planIncarnation,
  type CrashPlan,
  type PlannedIncarnation,
} from "../shared/crash-points.ts";
import { changeDeadline, changeInvocation, ringAlarm, untilState } from "../shared/run-object.ts";
import { sampleOfGroups, sampleSeed } from "../shared/sample.ts";
import { bindings, chat, runIdOf, seedPolicies, stateOf } from "../shared/worker.ts";
import { storeService } from "../workers/lab-writes.ts";

beforeAll(seedPolicies);

const MODES = ["before", "after", "durable"] as const;

/** Repeats a write whose first answer was lost, in an object that crashes as planned. */
async function repeatWrite(plan: CrashPlan): Promise<PlannedIncarnation> {
  storeService.isDown = true;
  storeService.requests.length = 0;
  storeService.effects.clear();
  const args = JSON.stringify({ what: "x", afterwards: "break" });
  const call = { id: "store", name: "lab__store", args };
  const response = await chat([{ calls: [call] }, { text: ["stored"] }], "lab");
  const runId = runIdOf(response);
  await untilState(runId, { status: "waiting" });
  storeService.isDown = false;
  await changeDeadline(runId, "retry");
  await changeInvocation(runId, 1, { retry: { atMs: 1, after: 1 } });
  const objectId = bindings.RUNS.idFromName(runId).toString();
  const incarnation = planIncarnation({ ...plan, objectId });
  await expect
    .poll(async () => {
      await ringAlarm(runId).catch(() => {});
      return (await stateOf(runId, "lab").catch(() => undefined))?.status;
    })
    .toBe("completed");
  const { requests, effects } = storeService;
  expect([new Set(requests).size, effects.size]).toEqual([1, 1]);
  expect(await stateOf(runId, "lab")).toMatchObject({ toolCalls: [{ state: "COMPLETED" }] });
  return incarnation;
}

test("an object that crashes at any write while it repeats a write causes one effect", async () => {
  const { points } = await repeatWrite({ mode: "after" });
  const writes = points.map((label, index) => ({ at: index + 1, label }));
  const sampled = sampleOfGroups(writes, ({ label }) => label, 9);
  let crashes = 0;
  for (const { at } of sampled) {
    const mode = MODES[(at + sampleSeed()) % 3] ?? "after";
    if ((await repeatWrite({ at, mode })).hasCrashed) crashes++;
  }
  expect(crashes).toBeGreaterThan(sampled.length / 2);
}, 600_000);
