import { chat } from "../client.ts";
import { RELAYS, type ContenderName } from "../contenders/plan.ts";
import {
  emptySamples,
  pairedFigures,
  takeTurns,
  type Bench,
  type Figure,
  type Samples,
} from "../measure.ts";
import { cpuMs } from "../process-usage.ts";
import { median } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

/** Processor time is counted in ticks of 10 ms, so one sample spans many answers. */
const ANSWERS_PER_SAMPLE = 8;
/** Answers that arrive at the same time, and the aim of their processor time. */
const AT_ONCE = [
  { streams: 16, atMost: 0.2 },
  { streams: 64, atMost: 0.25 },
] as const;
/** The AI SDK would take a minute for each round of 64 answers. */
const AT_ONCE_RELAYS = RELAYS.filter((name) => name !== "aiSdk");

/** Measures time and processor time of answers that arrive as fast as possible. */
export async function measureBurst(bench: Bench): Promise<readonly Figure[]> {
  const hono = (atMost?: number) => ({ honoOpenai: atMost });
  const ms = (name: string) => ({ name, unit: "ms" });
  const records = await inTurn(bench, "burst");
  const single = await inTurn(bench, "single");
  const figures = [
    ...pairedFigures(ms("burst: full time of 2,000 deltas"), records.fullMs, hono()),
    ...pairedFigures(ms("burst: CPU per 1,000 deltas"), records.cpuMs, hono(0.15)),
    ...pairedFigures(ms("burst, one delta per HTTP chunk: full time"), single.fullMs, hono()),
    ...pairedFigures(ms("burst, one delta per HTTP chunk: CPU per 1,000"), single.cpuMs, {
      honoOpenai: undefined,
      rewrite: undefined,
    }),
  ];
  for (const { streams, atMost } of AT_ONCE) {
    const samples = await atOnce(bench, streams);
    const name = ms(`burst of ${streams} streams: CPU per 1,000 deltas`);
    figures.push(...pairedFigures(name, samples, hono(atMost)));
  }
  return figures;
}

/** Per round: the median time of an answer, and the processor time of 1,000 deltas. */
interface BurstSamples {
  readonly fullMs: Samples;
  readonly cpuMs: Samples;
}

/** Asks for one answer after the other. */
async function inTurn(bench: Bench, scenarioName: "burst" | "single"): Promise<BurstSamples> {
  const scenario = SCENARIOS[scenarioName];
  const samples = { fullMs: emptySamples(), cpuMs: emptySamples() };
  await afterWarmUp(bench, RELAYS, async (name, keep) => {
    const timesMs: number[] = [];
    const perThousandMs = await cpuPerThousand(bench, name, async () => {
      for (let index = 0; index < ANSWERS_PER_SAMPLE; index++) {
        timesMs.push((await chat(bench.contenders[name], scenario, scenario.deltas)).fullMs);
      }
      return ANSWERS_PER_SAMPLE * scenario.deltas;
    });
    if (!keep) return;
    samples.fullMs[name].push(median(timesMs));
    samples.cpuMs[name].push(perThousandMs);
  });
  return samples;
}

/** Asks for many answers at once. */
async function atOnce(bench: Bench, streams: number): Promise<Samples> {
  const { burst } = SCENARIOS;
  const samples = emptySamples();
  await afterWarmUp(bench, AT_ONCE_RELAYS, async (name, keep) => {
    const perThousandMs = await cpuPerThousand(bench, name, async () => {
      const asked = Array.from({ length: streams }, () =>
        chat(bench.contenders[name], burst, burst.deltas),
      );
      await Promise.all(asked);
      return streams * burst.deltas;
    });
    if (keep) samples[name].push(perThousandMs);
  });
  return samples;
}

/** Visits contenders in turn. The first rounds warm up, and their samples are not kept. */
function afterWarmUp(
  { quick }: Bench,
  names: readonly ContenderName[],
  visit: (name: ContenderName, keep: boolean) => Promise<void>,
): Promise<void> {
  const warmUpRounds = quick ? 1 : 2;
  return takeTurns(names, warmUpRounds + (quick ? 2 : 7), (name, round) =>
    visit(name, round >= warmUpRounds),
  );
}

/** Measures the processor time of work that relays as many deltas as it returns. */
async function cpuPerThousand(
  { contenders }: Bench,
  name: ContenderName,
  work: () => Promise<number>,
): Promise<number> {
  const { workerdPid } = contenders[name];
  const beforeMs = cpuMs(workerdPid);
  const deltas = await work();
  return ((cpuMs(workerdPid) - beforeMs) / deltas) * 1_000;
}
