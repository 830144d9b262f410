import { beforeAll, describe, expect, test } from "vitest";
import { composeTenants } from "../../src/compose/tenant.ts";
import type { RunId, TenantId } from "../../src/protocol/identity/ids.ts";
import {
  planIncarnation,
  type CrashPlan,
  type PlannedIncarnation,
} from "../shared/crash-points.ts";
import { frozen, GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  callOf,
  changeGuildPolicy,
  decide,
  openOf,
  REJECT,
  viewOf,
} from "../shared/people.ts";
import { changeDeadline, crash, ringAlarm, rowsOf, tellOutcome } from "../shared/run-object.ts";
import { tenantRows } from "../shared/tenant-notices.ts";
import { sampleOfGroups, sampleSeed } from "../shared/sample.ts";
import {
  bindings,
  chat,
  chunksOf,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
  type Caller,
} from "../shared/worker.ts";

const LASTING = { within: "assistant", maxCalls: 5, maxSeconds: 3_600 };
beforeAll(async () => {
  await seedPolicies();
  const lasts = {
    tools: ["lab__archive", "lab__publish"],
    pattern: "user_consent",
    lasting: LASTING,
  };
  const approvals = [lasts, { tools: ["lab__publish"], pattern: "operator_review" }];
  await changeGuildPolicy({ ...GUILD_POLICY, approvals });
});

const MODES = ["before", "after", "durable"] as const;
const AT_A_TIME = 20;

interface NumberedWrite {
  /** Number of the write in its story, from 1 on. */
  readonly at: number;
  /** Kind of the write: a statement and its table, a transaction, or an alarm. */
  readonly label: string;
}

/**
 * Plans a crash at each write, in one of three ways that the seed chooses. A sample takes one of
 * nine writes begun of a label, and of these one of three.
 */
function plansFor(points: readonly string[]) {
  const writes = points.map((label, index): NumberedWrite => ({ at: index + 1, label }));
  const ofLabels = sampleOfGroups(writes, ({ label }) => label, 9);
  const sampled = sampleOfGroups(ofLabels, () => "any label", 3);
  return sampled.map(({ at }) => ({ at, mode: MODES[(at + sampleSeed()) % 3] ?? "after" }));
}

let stories = 0;

interface Story {
  readonly runId: string;
  readonly what: string;
}

function effectsOf(what: string): number {
  return moved.filter((effect) => effect.includes(` to ${what}`)).length;
}

/**
 * Sends a decision until the object answers, because the object may crash meanwhile. A decision
 * that was stored before the crash gets its first answer again, never 409 or 422.
 */
async function decideUntilAnswered(
  approvalId: string,
  caller: Caller,
  body: object,
): Promise<void> {
  await expect
    .poll(async () => (await decide(approvalId, caller, body).catch(() => undefined))?.status)
    .toBe(200);
}

async function untilWaiting(runId: string): Promise<string> {
  await expect
    .poll(async () => (await stateOf(runId, "ann").catch(() => undefined))?.status)
    .toBe("waiting");
  return openOf(await stateOf(runId, "ann"))[0] ?? "none";
}

/**
 * Waits until a run has ended. A crash may leave open whether a write happened: an operator looks
 * at the effect and reports it. Returns whether the operator reported that it did not happen.
 */
async function untilEnded(runId: string, hasHappened = () => true): Promise<boolean> {
  let isReportedMissing = false;
  const look = async (): Promise<string> => {
    const { status, toolCalls } = await stateOf(runId, "ann");
    const open = toolCalls.find(({ awaitsOutcomeUntil }) => awaitsOutcomeUntil !== undefined);
    const outcome = hasHappened() ? "committed" : "not_committed";
    const told = {
      invocation: open?.invocationId ?? "",
      body: { outcome },
      caller: "chief",
    } as const;
    if (open) {
      isReportedMissing = outcome === "not_committed";
      await tellOutcome(runId, told);
    }
    return status;
  };
  await expect.poll(() => look().catch(() => undefined)).toBe("completed");
  return isReportedMissing;
}

const calls = (what: string) => [callOf("lab__transfer", { to: what, amount: 3 })];

/** Audit entries of a run, once the log holds the end of the run. */
async function actionsOf(runId: string): Promise<readonly string[]> {
  const { trail } = composeTenants(bindings.TENANTS);
  const query = { after: 0, limit: 100, runId: runId as RunId };
  const find = async () => (await trail.read("guild" as TenantId, query)).items;
  const hasEnded = async () => (await find()).some(({ entry }) => entry.action === "run.ended");
  await expect.poll(hasEnded).toBe(true);
  const actions = (await find()).map(({ entry: { action, actorId, decision } }) =>
    [action, actorId, decision].filter((part) => part !== undefined).join(" "),
  );
  return actions.toSorted();
}

/** Tells of how many calls a reader is told the end. */
async function countResults(runId: string): Promise<number> {
  const chunks = await chunksOf(await send(`/v1/runs/${runId}/events`, { caller: "ann" }));
  return chunks.filter(({ type }) => type === "result").length;
}

const CALL = ["run.started user:ann", "call.ended user:ann", "run.ended user:ann stop"];

/** Begins a story whose object crashes in its next incarnation, as planned. */
async function begin(
  plan: CrashPlan,
): Promise<Story & { incarnation: PlannedIncarnation; approvalId: string }> {
  const what = `story ${stories++};`;
  const { runId, approvalId } = await askFor(calls(what));
  await crash(runId);
  const objectId = bindings.RUNS.idFromName(runId).toString();
  return { runId, what, approvalId, incarnation: planIncarnation({ ...plan, objectId }) };
}

/** Runs one story to its end; returns the planned incarnation. */
const STORIES: Readonly<Record<string, (plan: CrashPlan) => Promise<PlannedIncarnation>>> = {
  async asking(plan) {
    const what = `story ${stories++};`;
    const incarnation = planIncarnation(plan);
    const script = [{ calls: calls(what) }, { text: ["done"] }];
    const response = await chat(script, "ann").catch(() => undefined);
    const runId = response?.status === 200 ? runIdOf(response) : undefined;
    if (runId === undefined) return incarnation;
    void response?.body?.cancel().catch(() => {});
    const approvalId = await untilWaiting(runId);
    await decideUntilAnswered(approvalId, "bob", APPROVE);
    await decideUntilAnswered(approvalId, "cat", APPROVE);
    await untilEnded(runId);
    expect(effectsOf(what)).toBe(1);
    expect(await actionsOf(runId)).toEqual([...CALL, ...APPROVED].toSorted());
    return incarnation;
  },
  async approving(plan) {
    const { runId, what, approvalId, incarnation } = await begin(plan);
    await decideUntilAnswered(approvalId, "bob", APPROVE);
    await decideUntilAnswered(approvalId, "cat", APPROVE);
    await untilEnded(runId);
    expect(effectsOf(what)).toBe(1);
    await expect
      .poll(() => viewOf(approvalId, "bob").catch(() => undefined))
      .toHaveProperty("consumedAt");
    expect(await actionsOf(runId)).toEqual([...CALL, ...APPROVED].toSorted());
    return incarnation;
  },
  async rejecting(plan) {
    const { runId, what, approvalId, incarnation } = await begin(plan);
    await decideUntilAnswered(approvalId, "bob", REJECT);
    await untilEnded(runId);
    expect(effectsOf(what)).toBe(0);
    expect(await actionsOf(runId)).toEqual(
      [
        ...CALL,
        "approval.requested user:ann dual_control",
        "approval.voted user:bob reject",
        "approval.closed rejected",
      ].toSorted(),
    );
    return incarnation;
  },
  async "a call ends that nobody answered"(plan) {
    const what = `story ${stories++};`;
    const { runId } = await askFor([...calls(what), callOf("lab__archive", { what }, "call_2")]);
    const [, archive = ""] = openOf(await stateOf(runId, "ann"));
    frozen.add(what);
    await crash(runId);
    const objectId = bindings.RUNS.idFromName(runId).toString();
    const incarnation = planIncarnation({ ...plan, objectId });
    await decideUntilAnswered(archive, "ann", APPROVE);
    await untilEnded(runId);
    expect(effectsOf(what)).toBe(0);
    expect(await countResults(runId)).toBe(2);
    const actions = await actionsOf(runId);
    expect(actions.filter((action) => action.startsWith("call.ended"))).toHaveLength(2);
    expect(actions).toContain("approval.closed withdrawn");
    return incarnation;
  },
  async editing(plan) {
    const { runId, what, approvalId, incarnation } = await begin(plan);
    const edit = { ...APPROVE, arguments: { to: `${what} edited`, amount: 4 } };
    await decideUntilAnswered(approvalId, "bob", edit);
    const second = approvalId.replace(/_1$/, "_2");
    await expect
      .poll(async () => {
        const state = await stateOf(runId, "ann").catch(() => undefined);
        return state && openOf(state);
      })
      .toEqual([second]);
    await decideUntilAnswered(second, "cat", APPROVE);
    await untilEnded(runId);
    expect(moved.filter((effect) => effect.includes(` to ${what}`))).toEqual([
      `4 to ${what} edited`,
    ]);
    return incarnation;
  },
  async answering(plan) {
    const what = `story ${stories++};`;
    const { runId, approvalId } = await askFor([callOf("lab__seat", { flight: what })]);
    await crash(runId);
    const objectId = bindings.RUNS.idFromName(runId).toString();
    const incarnation = planIncarnation({ ...plan, objectId });
    await decideUntilAnswered(approvalId, "ann", { decision: "answer", answer: { seat: "aisle" } });
    await untilEnded(runId);
    expect(moved.filter((effect) => effect.includes(what))).toEqual([`aisle on ${what}`]);
    expect(await actionsOf(runId)).toEqual(
      [...CALL, "approval.requested user:ann answer", "approval.answered user:ann"].toSorted(),
    );
    return incarnation;
  },
  async expiring(plan) {
    const what = `story ${stories++};`;
    const { runId } = await askFor(calls(what));
    await rowsOf(runId, "UPDATE approvals SET body = json_set(body, '$.expiresAtMs', 1)");
    await changeDeadline(runId, "approval");
    await crash(runId);
    const objectId = bindings.RUNS.idFromName(runId).toString();
    const incarnation = planIncarnation({ ...plan, objectId });
    await ringAlarm(runId).catch(() => {});
    await expect
      .poll(async () => {
        await ringAlarm(runId).catch(() => {});
        return (await stateOf(runId, "ann").catch(() => undefined))?.status;
      })
      .toBe("completed");
    expect(effectsOf(what)).toBe(0);
    expect(await actionsOf(runId)).toEqual(
      [...CALL, "approval.requested user:ann dual_control", "approval.closed expired"].toSorted(),
    );
    return incarnation;
  },
  async "consent begins"(plan) {
    const what = `story ${stories++};`;
    const { runId, approvalId } = await askFor([callOf("lab__archive", { what })]);
    await crash(runId);
    const objectId = bindings.RUNS.idFromName(runId).toString();
    const incarnation = planIncarnation({ ...plan, objectId });
    await decideUntilAnswered(approvalId, "ann", { ...APPROVE, lasting: { within: "assistant" } });
    const archived = () => moved.filter((effect) => effect === `archived: ${what}`).length;
    const isMissing = await untilEnded(runId, () => archived() === 1);
    expect(archived()).toBe(isMissing ? 0 : 1);
    expect(await usesOf(approvalId)).toEqual([{ used: 0 }]);
    return incarnation;
  },
  async "consent is used"(plan) {
    const what = `story ${stories++};`;
    const call = callOf("lab__publish", { what });
    const first = await askFor([call]);
    const lasting = { ...APPROVE, lasting: { within: "assistant" } };
    await decideUntilAnswered(first.approvalId, "ann", lasting);
    await decideUntilAnswered(first.approvalId, "bob", APPROVE);
    await untilEnded(first.runId);
    // The consent votes; the operator is asked still, so the run waits.
    const { runId, approvalId } = await askFor([call]);
    await crash(runId);
    const objectId = bindings.RUNS.idFromName(runId).toString();
    const incarnation = planIncarnation({ ...plan, objectId });
    await decideUntilAnswered(approvalId, "bob", APPROVE);
    const published = () => moved.filter((effect) => effect === `published: ${what}`).length;
    const isMissing = await untilEnded(runId, () => published() === 2);
    expect(published()).toBe(isMissing ? 1 : 2);
    expect(await usesOf(first.approvalId)).toEqual([{ used: 1 }]);
    return incarnation;
  },
};

/** How often the consent was used that began with an approval. */
function usesOf(approvalId: string) {
  const id = approvalId.replace("appr_", "cons_");
  return tenantRows("guild", `SELECT used FROM consents WHERE id = '${id}'`);
}

const APPROVED = [
  "approval.requested user:ann dual_control",
  "approval.voted user:bob approve",
  "approval.voted user:cat approve",
  "approval.closed approved",
  "approval.consumed",
];

describe.each(Object.keys(STORIES))("an object that crashes while %s", (name) => {
  test("at any write causes at most one effect and reports each fact once", async () => {
    const tell = STORIES[name] ?? (() => Promise.reject(new Error(name)));
    const { points } = await tell({ mode: "after" });
    const plans = plansFor(points);
    const failures: string[] = [];
    let crashes = 0;
    const tellOne = async (plan: (typeof plans)[number]): Promise<void> => {
      try {
        if ((await tell(plan)).hasCrashed) crashes++;
      } catch (cause) {
        failures.push(`${plan.mode} ${plan.at} ${points[plan.at - 1]}: ${String(cause)}`);
      }
    };
    for (let first = 0; first < plans.length; first += AT_A_TIME) {
      await Promise.all(plans.slice(first, first + AT_A_TIME).map(tellOne));
    }
    expect(crashes).toBeGreaterThan(plans.length / 2);
    expect(failures).toEqual([]);
  }, 600_000);
});
