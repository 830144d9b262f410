import { isDeepStrictEqual } from "node:util";
import type { ToolInvocationRecord } from "../../../../src/protocol/invocation/record.ts";
import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { forbiddenCalls, replay as replayTrace } from "../../../../src/testing/fakes/evidence.ts";
import type { Subject } from "../subject.ts";
import type { Checks, TestMode } from "../test-mode.ts";
import { openTrial, recordRun, type Trial, type TrialSettings } from "../trial.ts";

const CALLS = 8;

type TraceSettings = Pick<TrialSettings, "approved" | "policy">;

/**
 * A finished run is replayed from its record, without its tool. The tool itself, run again on the
 * same ports, answers the same.
 */
export const replay: TestMode = {
  id: "replay",
  name: "Replay",
  async run(subject, checks) {
    const good = subject.validArgs.slice(0, CALLS);
    const bad = subject.badArgs.slice(0, CALLS).map(({ args }) => args);
    for (const settings of SETTINGS) {
      for (const args of [...good, ...bad]) {
        const first = openTrial(subject, settings);
        await first.ask(args);
        const second = openTrial(subject, settings);
        for (const record of first.bench.journal.records) await repeat(second, record);
        checkAlike(checks, first, second);
        await checkTrace(subject, checks, { settings, args });
      }
    }
    return undefined;
  },
};

/** Policies under which a call runs, waits for an approval, and is refused. */
const SETTINGS: readonly TraceSettings[] = [
  {},
  { approved: false },
  { policy: { allowedTools: [] } },
];

async function repeat(trial: Trial, record: ToolInvocationRecord): Promise<void> {
  const { argumentsText, step, toolCallId } = record;
  await trial.ask(argumentsText, { step, id: toolCallId });
}

async function checkTrace(
  subject: Subject,
  checks: Checks,
  { settings, args }: { readonly settings: TraceSettings; readonly args: JsonObject },
): Promise<void> {
  const { evidence, contracts } = await recordRun(subject, settings, args);
  // A write that failed with an unknown outcome waits for an operator, so it has not ended.
  if (evidence.log.at(-1)?.type !== "done") return;
  const before = forbiddenCalls.length;
  const replayed = await replayTrace(evidence, contracts);
  const isAlike = replayed.ok && replayed.value.recorded === replayed.value.replayed;
  checks.that("a finished run is decided alike from its trace", isAlike, replayed);
  checks.that("no tool runs in a replay", forbiddenCalls.length === before);
}

function checkAlike(checks: Checks, first: Trial, second: Trial): void {
  const before = first.bench.journal.records.map(timeless);
  const after = second.bench.journal.records.map(timeless);
  checks.that("a call is recorded once", before.length === 1, before.length);
  const isSame = isDeepStrictEqual(before, after);
  checks.that("the same call is decided and observed alike", isSame, [before, after]);
  const keysOf = ({ started }: Trial): readonly string[] => started.map(({ key }) => key);
  const areKeysSame = isDeepStrictEqual(keysOf(first), keysOf(second));
  checks.that("the same call has the same key", areKeysSame);
}

function timeless({ end, ...open }: ToolInvocationRecord): object {
  const { askedAtMs: _asked, dispatchedAtMs: _dispatched, ...record } = open;
  if (!end) return record;
  const { startedAtMs: _started, endedAtMs: _ended, observation, ...rest } = end;
  const { timestamp: _at, latency_ms: _took, ...metadata } = observation.execution_metadata;
  return { ...record, ...rest, observation: { ...observation, execution_metadata: metadata } };
}
