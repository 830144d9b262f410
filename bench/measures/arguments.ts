import { chat } from "../client.ts";
import { startWithTools } from "../contenders/start-with-tools.ts";
import { emptySamples, pairedFigures, takeTurns, type Bench, type Figure } from "../measure.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const WARM_UP_ROUNDS = 1;
/** The text after the tool call. */
const DELTAS = 8;
const NAMES = ["interlock", "honoOpenai", "aiSdk"] as const;

/** Measures one tool call with long arguments, in fragments as a provider sends them. */
export async function measureArguments(bench: Bench): Promise<readonly Figure[]> {
  const { contenders, plans, quick } = bench;
  const interlock = await startWithTools(plans.interlock);
  const targets = { ...contenders, interlock };
  const figures: Figure[] = [];
  for (const scenario of [SCENARIOS.arguments64, SCENARIOS.arguments256]) {
    const timesMs = emptySamples();
    await takeTurns(NAMES, WARM_UP_ROUNDS + (quick ? 2 : 7), async (name, round) => {
      const { fullMs } = await chat(targets[name], scenario, DELTAS);
      if (round >= WARM_UP_ROUNDS) timesMs[name].push(fullMs);
    });
    const title = { name: `one call with arguments of ${scenario.kib} KiB`, unit: "ms" };
    figures.push(...pairedFigures(title, timesMs, { honoOpenai: undefined, aiSdk: undefined }));
  }
  await interlock.stop();
  return figures;
}
