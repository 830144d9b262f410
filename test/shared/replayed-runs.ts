import { afterEach, expect, inject } from "vitest";
import type { ReplayAnswer } from "../../src/capabilities/run.ts";
import { stubOf, viewerAs } from "./run-object.ts";
import { startedRuns, type Caller } from "./worker.ts";

/** Answers to the replay of a run that has not ended, or of which the record holds too little. */
const REFUSED: ReadonlySet<string> = new Set(["unfinished", "unclear", "unknown", "gone"]);

/**
 * Registers that in `npm run test:full` each run of a test file is replayed after its test, and
 * that it replays equal. For files whose tests change no record.
 */
export function replayEachRun(): void {
  afterEach(async () => {
    const runs = new Map(startedRuns.splice(0).map(({ runId, caller }) => [runId, caller]));
    if (!inject("samplePlan").isFull) return;
    const unlike: unknown[] = [];
    for (const [runId, caller] of runs) {
      const answer = await replayOf(runId, caller);
      if (answer !== "equal" && !REFUSED.has(answer)) unlike.push([runId, answer]);
    }
    expect(unlike).toEqual([]);
  });
}

/** Replays a run as its object does: `equal`, the difference, or why not. */
export async function replayOf(runId: string, caller: Caller): Promise<string> {
  const stub = stubOf(runId) as unknown as { replay(viewer: unknown): Promise<ReplayAnswer> };
  const answer = await stub.replay(viewerAs(caller));
  if (answer.kind === "not_replayable") return answer.reason;
  if (answer.kind !== "replayed") return answer.kind;
  return answer.result.difference ? JSON.stringify(answer.result.difference) : "equal";
}
