import { ask } from "../client/ask.ts";
import { inFlight } from "../in-flight.ts";
import { VERIFIED_TENANT } from "../host/key-fingerprint.ts";
import type { Failure } from "../part.ts";
import { sleep } from "../sleep.ts";
import type { Target } from "../client/target.ts";
import type { LeftByRun, LeftByTenant } from "../worker/left-over.ts";

/** Longest time until the last notice arrives and the last alarm has rung. Unit: milliseconds. */
const PATIENCE_MS = 120_000;
const POLL_MS = 1_000;
const RUNS_AT_ONCE = 8;
/** Deadlines that an ended run keeps: its data goes at the first, its key at the second. */
const FINAL: readonly string[] = ["retention", "forget"];

/** As `findLeftOver`, as failures of a part. */
export async function leftOver(target: Target, part: string): Promise<readonly Failure[]> {
  const problems = await findLeftOver(target);
  return problems.length === 0 ? [] : [{ name: `${part}: left over`, problems }];
}

/**
 * Looks until all runs of the verified tenant have ended and nothing is left over of them: no open
 * approval, no unknown outcome, no undelivered notice, no alarm but that of their deletion. Returns
 * what is still left in the end. Contract: never throws.
 */
export async function findLeftOver(target: Target): Promise<readonly string[]> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  const clean = new Set<string>();
  for (;;) {
    const found = await lookAt(target, clean).catch((error: unknown) => [String(error)]);
    if (found.length === 0 || Date.now() > deadlineMs) return found;
    await sleep(POLL_MS);
  }
}

/** Looks at the tenant, and at the runs that were not clean before. */
async function lookAt(target: Target, clean: Set<string>): Promise<readonly string[]> {
  const { body } = await ask(target, `/chaos/left-over?tenant=${VERIFIED_TENANT}`);
  const { runs, ...lists } = body as LeftByTenant;
  const found = Object.entries(lists).flatMap(([name, ids]) => ids.map((id) => `${name}: ${id}`));
  const unclean = runs.filter(({ runId }) => !clean.has(runId));
  await inFlight(RUNS_AT_ONCE, unclean, async ({ runId, hasEnded }) => {
    const problems = hasEnded ? await lookAtRun(target, runId) : ["the tenant knows no end"];
    if (problems.length === 0) clean.add(runId);
    found.push(...problems.map((problem) => `${runId}: ${problem}`));
  });
  return found;
}

async function lookAtRun(target: Target, runId: string): Promise<readonly string[]> {
  const { body, status } = await ask(target, `/chaos/left-over?run=${runId}`);
  if (status !== 200) return [`answered with ${status}`];
  return [...findContradictions(body as LeftByRun)];
}

/** Tells what an ended run should not have any more. */
export function* findContradictions(left: LeftByRun): Generator<string> {
  const { deadlines, hasShrunk, undelivered, openApprovals, openCalls, alarmAtMs } = left;
  const final = hasShrunk ? ["forget"] : FINAL;
  for (const name of Object.keys(deadlines)) {
    if (!final.includes(name)) yield `the deadline ${name} is set`;
  }
  for (const name of final) if (!(name in deadlines)) yield `the deadline ${name} is missing`;
  if (undelivered > 0) yield `${undelivered} entries of the outbox are not delivered`;
  if (openApprovals > 0) yield `${openApprovals} approvals are open`;
  for (const call of openCalls) yield `the call ${call} has no outcome`;
  const earliestMs = Math.min(...Object.values(deadlines));
  if (alarmAtMs !== earliestMs) yield `the alarm is at ${alarmAtMs}, not at ${earliestMs}`;
}
