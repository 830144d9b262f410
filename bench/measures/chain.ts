import { chat } from "../client.ts";
import { emptySamples, pairedFigures, takeTurns, type Bench, type Figure } from "../measure.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const WARM_UP_ROUNDS = 5;
/** The text after the last tool call. */
const DELTAS = 8;
/** The pass-through cannot run tools. */
const NAMES = ["interlock", "honoOpenai", "aiSdk"] as const;

/** Measures one tool call and a chain of tool calls, until the last byte. */
export async function measureChain(bench: Bench): Promise<readonly Figure[]> {
  const { chain, oneStep } = SCENARIOS;
  return [
    ...(await measure(bench, oneStep, { name: "one tool step, then text", atMost: 0.9 })),
    ...(await measure(bench, chain, {
      name: `${chain.steps} tool steps, then text`,
      atMost: 0.75,
    })),
  ];
}

async function measure(
  { contenders, quick }: Bench,
  scenario: { readonly type: "chain"; readonly steps: number },
  { name, atMost }: { readonly name: string; readonly atMost: number },
): Promise<readonly Figure[]> {
  const timesMs = emptySamples();
  await takeTurns(NAMES, WARM_UP_ROUNDS + (quick ? 5 : 25), async (contender, round) => {
    const { fullMs } = await chat(contenders[contender], scenario, DELTAS);
    if (round >= WARM_UP_ROUNDS) timesMs[contender].push(fullMs);
  });
  const aims = { honoOpenai: atMost, aiSdk: undefined };
  return pairedFigures({ name, unit: "ms" }, timesMs, aims);
}
