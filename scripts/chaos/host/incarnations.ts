import { sleep } from "../sleep.ts";
import { readState, type Target } from "../client/target.ts";
import type { Incarnation, ObjectRecord } from "../worker/crash-plan.ts";

/**
 * Reads the record of a script's object without waking the object. Undefined before the run is
 * claimed.
 */
export async function readRecord(url: string, scriptId: string): Promise<ObjectRecord | undefined> {
  const answer = await fetch(`${url}/chaos/incarnations?script=${encodeURIComponent(scriptId)}`);
  return (await answer.json<ObjectRecord | null>()) ?? undefined;
}

/** Reads what the object of a script did in each incarnation. */
export async function readIncarnations(
  url: string,
  scriptId: string,
): Promise<readonly Incarnation[]> {
  return (await readRecord(url, scriptId))?.incarnations ?? [];
}

const CLAIMED_WITHIN_MS = 10_000;

/** Waits until the run of a script is claimed. Fails: throws when it is not. */
export async function untilClaimed(url: string, scriptId: string): Promise<ObjectRecord> {
  const deadlineMs = Date.now() + CLAIMED_WITHIN_MS;
  for (;;) {
    const record = await readRecord(url, scriptId);
    if (record) return record;
    if (Date.now() > deadlineMs) throw new Error(`${scriptId} was not claimed`);
    await sleep(5);
  }
}

/** Longest time until a run ends that gets no requests and no more faults. Unit: milliseconds. */
const UNASKED_MS = 100_000;

/**
 * Waits until a run has ended and is published, without a request that would wake its object.
 * Fails: throws when the run does not end in time. The time starts when `calm` resolves.
 */
export async function endsWithoutRequests(
  target: Target,
  runId: string,
  calm: Promise<void> = Promise.resolve(),
): Promise<void> {
  let deadlineMs = Number.POSITIVE_INFINITY;
  void calm.then(() => (deadlineMs = Date.now() + UNASKED_MS));
  while (Date.now() < deadlineMs) {
    try {
      const answer = await fetch(`${target.url}/chaos/record?run=${runId}`);
      if (answer.status === 204) return;
    } catch {
      // The deployment is starting again.
    }
    await sleep(500);
  }
  const state = JSON.stringify(await readState(target, runId));
  throw new Error(`it did not end without a request; asked for, it is ${state}`);
}
