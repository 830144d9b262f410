import { chat } from "../client.ts";
import { compare, each, emptySamples, interleave, type Bench, type Figure } from "../measure.ts";
import { cpuMs } from "../process-usage.ts";
import { median } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

/** Processor time is counted in ticks of 10 ms, so one sample spans many answers. */
const ANSWERS_PER_SAMPLE = 8;

/** Measures time and processor time of an answer that arrives as fast as possible. */
export async function measureBurst(bench: Bench): Promise<readonly Figure[]> {
  const records = await run(bench, "burst");
  const single = await run(bench, "single");
  return [
    figure("burst: full time of 2,000 deltas", records.fullMs),
    figure("burst: CPU per 1,000 deltas", records.cpuPerThousandMs, 0.25),
    figure("burst, one delta per HTTP chunk: full time", single.fullMs),
    figure("burst, one delta per HTTP chunk: CPU per 1,000", single.cpuPerThousandMs),
  ];
}

function figure(name: string, raw: PerContender, atMost?: number): Figure {
  return { name, unit: "ms", raw, ratio: compare(raw, "honoOpenai", atMost) };
}

type PerContender = ReturnType<typeof each>;

async function run(
  bench: Bench,
  scenarioName: "burst" | "single",
): Promise<{ fullMs: PerContender; cpuPerThousandMs: PerContender }> {
  const scenario = SCENARIOS[scenarioName];
  const fullMs = emptySamples();
  const cpuPerThousandMs = emptySamples();
  const warmUpRounds = bench.quick ? 1 : 2;
  let visits = 0;
  const contenderCount = Object.keys(bench.contenders).length;
  await interleave(warmUpRounds + (bench.quick ? 2 : 5), async (name) => {
    const { workerdPid } = bench.contenders[name];
    const isWarmUp = visits++ < warmUpRounds * contenderCount;
    const beforeMs = cpuMs(workerdPid);
    for (let index = 0; index < ANSWERS_PER_SAMPLE; index++) {
      const timing = await chat(bench.contenders[name], scenario, scenario.deltas);
      if (!isWarmUp) fullMs[name].push(timing.fullMs);
    }
    const thousands = (ANSWERS_PER_SAMPLE * scenario.deltas) / 1_000;
    if (!isWarmUp) cpuPerThousandMs[name].push((cpuMs(workerdPid) - beforeMs) / thousands);
  });
  return {
    fullMs: each((name) => median(fullMs[name])),
    cpuPerThousandMs: each((name) => median(cpuPerThousandMs[name])),
  };
}
