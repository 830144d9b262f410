import { chat } from "../client.ts";
import { emptySamples, interleave, pairedFigures, type Bench, type Figure } from "../measure.ts";
import { median } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const RUNS = 64;

/** Measures runs that start at the same moment: when their first texts arrive. */
export async function measureTogether({ contenders, quick }: Bench): Promise<readonly Figure[]> {
  const { firstByte } = SCENARIOS;
  const medians = emptySamples();
  const lasts = emptySamples();
  const warmUpRounds = 1;
  const rounds = emptySamples();
  await interleave(warmUpRounds + (quick ? 3 : 15), async (name) => {
    const asked = Array.from({ length: RUNS }, () =>
      chat(contenders[name], firstByte, firstByte.deltas),
    );
    const timesMs = (await Promise.all(asked)).map(({ firstDeltaMs }) => firstDeltaMs);
    rounds[name].push(rounds[name].length);
    if (rounds[name].length <= warmUpRounds) return;
    medians[name].push(median(timesMs));
    lasts[name].push(Math.max(...timesMs));
  });
  const aims = { passThrough: undefined, honoOpenai: undefined, aiSdk: undefined };
  const named = (what: string): { name: string; unit: string } => ({
    name: `${RUNS} runs at once: first text of ${what}`,
    unit: "ms",
  });
  return [
    ...pairedFigures(named("the median run"), medians, aims),
    ...pairedFigures(named("the last run"), lasts, aims),
  ];
}
