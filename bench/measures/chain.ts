import { chat } from "../client.ts";
import type { Bench, Figure } from "../measure.ts";
import { median } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const WARM_UP_ROUNDS = 5;
/** The text after the last tool call. */
const DELTAS = 8;

/** Measures a chain of tool calls. The pass-through cannot run tools. */
export async function measureChain({ contenders, quick }: Bench): Promise<readonly Figure[]> {
  const timesMs: { interlock: number[]; honoOpenai: number[] } = { interlock: [], honoOpenai: [] };
  const rounds = quick ? 5 : 25;
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    for (const name of ["interlock", "honoOpenai"] as const) {
      const { fullMs } = await chat(contenders[name], SCENARIOS.chain, DELTAS);
      if (round >= WARM_UP_ROUNDS) timesMs[name].push(fullMs);
    }
  }
  const interlock = median(timesMs.interlock);
  const honoOpenai = median(timesMs.honoOpenai);
  return [
    {
      name: `chain of ${SCENARIOS.chain.steps} tool steps, then text`,
      unit: "ms",
      raw: { interlock, honoOpenai },
      ratio: { to: "Hono + openai", value: interlock / honoOpenai, atMost: 1 },
    },
  ];
}
