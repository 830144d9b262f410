import { setTimeout as wait } from "node:timers/promises";
import { chat } from "../client.ts";
import { CONTENDERS, type ContenderName } from "../contenders/plan.ts";
import { emptySamples, pairedFigures, takeTurns, type Bench, type Figure } from "../measure.ts";
import { cpuMs } from "../process-usage.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

/** Processor time is counted in ticks of 10 ms, so one sample spans many answers. */
const SHORT_ANSWERS = 40;
const LONG_ANSWERS = 4;
/** Time for what follows an answer: deliveries, deadlines. */
const AFTERWARDS_MS = 200;

/**
 * Measures the processor time of a run as a line: what each run costs, and what 1,000 deltas add.
 * Two lengths give both: 20 and 2,000 deltas, each delta in its own HTTP chunk.
 */
export async function measureRunCost({ contenders, quick }: Bench): Promise<readonly Figure[]> {
  const { single, singleShort } = SCENARIOS;
  const [fixed, slope, short] = [emptySamples(), emptySamples(), emptySamples()];
  const perAnswer = async (
    name: ContenderName,
    scenario: typeof single | typeof singleShort,
    answers: number,
  ): Promise<number> => {
    const { workerdPid } = contenders[name];
    const beforeMs = cpuMs(workerdPid);
    for (let index = 0; index < answers; index++) {
      await chat(contenders[name], scenario, scenario.deltas);
    }
    await wait(AFTERWARDS_MS);
    return (cpuMs(workerdPid) - beforeMs) / answers;
  };
  for (const name of CONTENDERS) {
    await perAnswer(name, singleShort, SHORT_ANSWERS);
    await perAnswer(name, single, LONG_ANSWERS);
  }
  await takeTurns(CONTENDERS, quick ? 3 : 9, async (name) => {
    const shortMs = await perAnswer(name, singleShort, SHORT_ANSWERS);
    const longMs = await perAnswer(name, single, LONG_ANSWERS);
    const perDeltaMs = (longMs - shortMs) / (single.deltas - singleShort.deltas);
    short[name].push(shortMs);
    slope[name].push(perDeltaMs * 1_000);
    fixed[name].push(shortMs - perDeltaMs * singleShort.deltas);
  });
  const aims = {
    passThrough: undefined,
    sketch: undefined,
    honoOpenai: undefined,
    aiSdk: undefined,
    cloudflareAgent: undefined,
  };
  return [
    ...pairedFigures({ name: "CPU of a run with 20 deltas", unit: "ms" }, short, {
      ...aims,
      sketch: 1.3,
    }),
    ...pairedFigures({ name: "CPU of a run without deltas (intercept)", unit: "ms" }, fixed, aims),
    ...pairedFigures({ name: "CPU per 1,000 deltas (slope)", unit: "ms" }, slope, aims),
  ];
}
