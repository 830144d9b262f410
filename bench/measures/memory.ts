import { setTimeout as wait } from "node:timers/promises";
import { chat, openChat, type OpenChat } from "../client.ts";
import { startContender } from "../contenders/start.ts";
import { emptySamples, interleave, pairedFigures, type Bench, type Figure } from "../measure.ts";
import { resident } from "../process-usage.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const WARM_UP_STREAMS = 40;
const STREAMS = [64, 256];
const SETTLE_MS = 1_500;

/** Measures the memory of an open stream while its provider is silent. */
export async function measureMemory(bench: Bench): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const streams of STREAMS) figures.push(...(await measureStreams(bench, streams)));
  return figures;
}

async function measureStreams(bench: Bench, streams: number): Promise<readonly Figure[]> {
  const pssKib = emptySamples();
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
      await openMany(streams);
      const after = resident(contender.workerdPid);
      pssKib[name].push((after.pssKib - before.pssKib) / streams);
    } finally {
      for (const { response } of open) response.on("error", () => undefined).destroy();
      await contender.stop();
    }
  });
  const title = { name: `memory of an idle stream, of ${streams}`, unit: "KiB" };
  return pairedFigures(title, pssKib, { passThrough: 1.3, honoOpenai: undefined });
}
