import {
  addMeasures,
  seriesOf,
  type MeasuredNumbers,
  type MeasuredRun,
} from "../../protocol/metric/measures.ts";
import { bucketCounter, DURATION_SUM } from "./durations.ts";
import { measureCalls } from "./measure-calls.ts";
import { measureSpending } from "./spent.ts";

/** Counts a run that has ended, by model and by tool. Contract: pure; linear. */
export function measureRun(run: MeasuredRun): MeasuredNumbers {
  const { reason, durationMs, model, modelCalls, usage, mismatches } = run;
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage;
  const own = {
    [seriesOf("run", reason)]: {
      runs: 1,
      [bucketCounter(durationMs)]: 1,
      [DURATION_SUM]: durationMs,
    },
    ...(mismatches > 0 && { [seriesOf("ledger")]: { mismatches } }),
    ...(modelCalls > 0 && {
      [seriesOf("model", model)]: {
        calls: modelCalls,
        input: inputTokens,
        cached_input: cachedInputTokens,
        output: outputTokens,
        reasoning: reasoningTokens,
      },
    }),
  };
  const calls = measureCalls(run);
  const ofTools = calls.map(({ tool, version, counts }) => ({
    [seriesOf("tool", tool, version)]: counts,
  }));
  return { measures: addMeasures([own, ...ofTools]), spent: measureSpending(run, calls) };
}
