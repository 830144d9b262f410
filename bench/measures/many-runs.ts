import { setTimeout as wait } from "node:timers/promises";
import { chat } from "../client.ts";
import { startContender } from "../contenders/start.ts";
import type { Bench, Figure } from "../measure.ts";
import { resident } from "../process-usage.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const AT_ONCE = 16;
/** An object without requests leaves memory after 10 seconds. */
const EVICTED_AFTER_MS = 12_000;
const KIB_PER_MIB = 1_024;

/** Measures whether memory grows with the number of runs: after a fifth of them, and after all. */
export async function measureManyRuns({ plans, quick }: Bench): Promise<readonly Figure[]> {
  const runs = quick ? 1_000 : 10_000;
  const contender = await startContender(plans.interlock);
  const { firstByte } = SCENARIOS;
  const runMany = async (count: number): Promise<number> => {
    let left = count;
    const client = async (): Promise<void> => {
      while (left-- > 0) await chat(contender, firstByte, firstByte.deltas);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    await wait(EVICTED_AFTER_MS);
    return resident(contender.workerdPid).pssKib / KIB_PER_MIB;
  };
  const early = await runMany(runs / 5);
  const late = await runMany((runs / 5) * 4);
  await contender.stop();
  const name = (count: number): string => `memory after ${count} runs, ${AT_ONCE} at once`;
  return [
    { name: name(runs / 5), unit: "MiB", raw: { interlock: early } },
    {
      name: name(runs),
      unit: "MiB",
      raw: { interlock: late },
      ratio: { to: `${runs / 5} runs`, value: late / early },
    },
  ];
}
