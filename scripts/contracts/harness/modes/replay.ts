import { isDeepStrictEqual } from "node:util";
import type { ToolInvocationRecord } from "../../../../src/protocol/tool-invocation.ts";
import { pending, type Checks, type TestMode } from "../test-mode.ts";
import { openTrial, type Trial, type TrialSettings } from "../trial.ts";

const CALLS = 8;

/** A call that is made again from its record, under the same ports, comes to the same end. */
export const replay: TestMode = {
  id: "replay",
  name: "Replay",
  async run(subject, checks) {
    const good = subject.validArgs.slice(0, CALLS);
    const bad = subject.badArgs.slice(0, CALLS).map(({ args }) => args);
    for (const settings of SETTINGS) {
      for (const args of [...good, ...bad]) {
        const first = openTrial(subject, settings);
        await first.call(args);
        const second = openTrial(subject, settings);
        for (const record of first.bench.journal.records) await repeat(second, record);
        checkAlike(checks, first, second);
      }
    }
    return pending(
      "a stored trace cannot be replayed yet; shown is a call made again from its record",
    );
  },
};

/** Under which a call runs, waits for a person if it needs one, and is refused. */
const SETTINGS: readonly TrialSettings[] = [
  {},
  { approved: false },
  { policy: { allowedTools: [] } },
];

async function repeat(trial: Trial, record: ToolInvocationRecord): Promise<void> {
  const { argumentsText, step, toolCallId } = record;
  await trial.call(argumentsText, { step, id: toolCallId });
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

function timeless({ end, askedAtMs: _asked, ...record }: ToolInvocationRecord): object {
  if (!end) return record;
  const { startedAtMs: _started, endedAtMs: _ended, observation, ...rest } = end;
  const { timestamp: _at, latency_ms: _took, ...metadata } = observation.execution_metadata;
  return { ...record, ...rest, observation: { ...observation, execution_metadata: metadata } };
}
