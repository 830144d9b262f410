import { setTimeout as wait } from "node:timers/promises";
import { chat } from "../client.ts";
import { bundleContender } from "../contenders/bundle.ts";
import { startContender, type Contender } from "../contenders/start.ts";
import { takeTurns, type Bench, type Figure } from "../measure.ts";
import { cpuMs } from "../process-usage.ts";
import { median, quantile } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

/** Processor time is counted in ticks of 10 ms, so one sample spans many runs. */
const RUNS = { singleShort: 60, chain: 8 } as const;
type Kind = keyof typeof RUNS;
const NAMES: Readonly<Record<Kind, string>> = {
  singleShort: "a run with 20 deltas",
  chain: "a run of 20 tool steps",
};
/** Time for what follows a run: deliveries, deadlines, spans. */
const AFTERWARDS_MS = 400;
/** The aim: traces take at most a twentieth of a run. */
const AIM = 1.05;

/** Measures the processor time of runs with traces beside the same runs without. */
export async function measureTraces({ plans, direct, quick }: Bench): Promise<readonly Figure[]> {
  const { texts, ...plan } = plans.interlock;
  const address = `http://127.0.0.1:${direct.port}`;
  const workers = {
    traced: await startContender({
      ...plan,
      texts: { ...texts, OTEL_EXPORTER_OTLP_ENDPOINT: address },
      code: await bundleContender("traces-worker.ts"),
    }),
    plain: await startContender(plans.interlock),
  };
  const figures: Figure[] = [];
  for (const kind of Object.keys(RUNS) as Kind[]) {
    const samples = { traced: [] as number[], plain: [] as number[] };
    const rounds = quick ? 3 : 15;
    await takeTurns(["traced", "plain"] as const, 1 + rounds, async (way, round) => {
      const perRun = await cpuOfRuns(workers[way], kind);
      if (round > 0) samples[way].push(perRun);
    });
    const ratios = samples.traced.map((value, round) => value / (samples.plain[round] ?? NaN));
    const range = [quantile(ratios, 0.1), quantile(ratios, 0.9)] as const;
    figures.push({
      name: `CPU of ${NAMES[kind]}, with traces`,
      unit: "ms",
      raw: { interlock: median(samples.traced) },
      ratio: { to: "without traces", value: median(ratios), range, atMost: AIM },
    });
  }
  await Promise.all(Object.values(workers).map((worker) => worker.stop()));
  return figures;
}

async function cpuOfRuns(worker: Contender, kind: Kind): Promise<number> {
  const beforeMs = cpuMs(worker.workerdPid);
  const { [kind]: scenario } = SCENARIOS;
  for (let run = 0; run < RUNS[kind]; run++) {
    await chat(worker, scenario, scenario.type === "chain" ? 8 : scenario.deltas);
  }
  await wait(AFTERWARDS_MS);
  return (cpuMs(worker.workerdPid) - beforeMs) / RUNS[kind];
}
