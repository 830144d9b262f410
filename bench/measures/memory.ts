import { setTimeout as wait } from "node:timers/promises";
import { chat, openChat, type OpenChat } from "../client.ts";
import { startContender } from "../contenders/start.ts";
import { compare, each, emptySamples, interleave, type Bench, type Figure } from "../measure.ts";
import { resident } from "../process-usage.ts";
import { median } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const WARM_UP_STREAMS = 40;
const STREAMS = 200;
const SETTLE_MS = 1_500;

/** Measures the memory of an open stream while its provider is silent. */
export async function measureMemory(bench: Bench): Promise<readonly Figure[]> {
  const pssKib = emptySamples();
  const rssKib = emptySamples();
  await interleave(bench.quick ? 1 : 3, async (name) => {
    // A process rarely returns memory, so every sample needs its own process.
    const contender = await startContender(bench.plans[name]);
    const open: OpenChat[] = [];
    try {
      const { firstByte, silent } = SCENARIOS;
      const openMany = async (count: number): Promise<void> => {
        for (let index = 0; index < count; index++) open.push(await openChat(contender, silent));
        await wait(SETTLE_MS);
      };
      for (let index = 0; index < WARM_UP_STREAMS; index++) {
        await chat(contender, firstByte, firstByte.deltas);
      }
      await openMany(WARM_UP_STREAMS);
      const before = resident(contender.workerdPid);
      await openMany(STREAMS);
      const after = resident(contender.workerdPid);
      pssKib[name].push((after.pssKib - before.pssKib) / STREAMS);
      rssKib[name].push((after.rssKib - before.rssKib) / STREAMS);
    } finally {
      for (const { response } of open) response.on("error", () => undefined).destroy();
      await contender.stop();
    }
  });
  const figure = (title: string, samples: typeof pssKib): Figure => {
    const raw = each((name) => median(samples[name]));
    const ratio = compare(raw, "passThrough");
    return { name: `memory of an idle stream, ${title}`, unit: "KiB", raw, ratio };
  };
  return [figure("Pss", pssKib), figure("Rss", rssKib)];
}
