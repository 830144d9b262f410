import { measureStart, type StartableWorker } from "../../scripts/start-up.ts";
import { chat } from "../client.ts";
import type { ContenderName, ContenderPlan } from "../contenders/plan.ts";
import { emptySamples, interleave, pairedFigures, type Bench, type Figure } from "../measure.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

/**
 * Measures cold starts: from the start of workerd to the first answer of the Worker, and to the
 * first text of a model.
 */
export async function measureColdStart({ plans, quick }: Bench): Promise<readonly Figure[]> {
  const [answerCpu, textMs] = [emptySamples(), emptySamples()];
  const { firstByte } = SCENARIOS;
  const isWarm = new Set<ContenderName>();
  await interleave(1 + (quick ? 3 : 15), async (name) => {
    const worker = toStartable(plans[name]);
    const { cpuMs } = await measureStart(worker);
    let firstDeltaMs = Number.NaN;
    const { askedMs } = await measureStart(worker, async (port) => {
      ({ firstDeltaMs } = await chat({ port }, firstByte, firstByte.deltas));
    });
    // The first round reads the program from the disk.
    if (!isWarm.has(name)) return void isWarm.add(name);
    answerCpu[name].push(cpuMs);
    textMs[name].push(askedMs + firstDeltaMs);
  });
  const aims = { passThrough: undefined, honoOpenai: undefined, aiSdk: undefined };
  return [
    ...pairedFigures({ name: "start to the first answer: CPU", unit: "ms" }, answerCpu, {
      ...aims,
      honoOpenai: 1,
    }),
    ...pairedFigures({ name: "start to the first text", unit: "ms" }, textMs, {
      ...aims,
      passThrough: 2,
    }),
  ];
}

/** The same Worker for a start without anything stored. */
export function toStartable({ kv, emptyServices, ...plan }: ContenderPlan): StartableWorker {
  return { ...plan, kv: Object.keys(kv), services: emptyServices };
}
