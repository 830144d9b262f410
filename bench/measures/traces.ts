import { setTimeout as wait } from "node:timers/promises";
import { chat } from "../client.ts";
import { bundleContender } from "../contenders/bundle.ts";
import { startContender, type Contender } from "../contenders/start.ts";
import { takeTurns, type Bench, type Figure } from "../measure.ts";
import { threadsMs } from "../process-usage.ts";
import { median, quantile } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

/**
 * Runs of one burst. A machine that slows down meets the bursts of both ways alike, so a sample is
 * many short ones.
 */
const BURST = { singleShort: 20, chain: 6 } as const;
const BURSTS = 4;
type Kind = keyof typeof BURST;
const NAMES: Readonly<Record<Kind, string>> = {
  singleShort: "a run with 20 deltas",
  chain: "a run of 20 tool steps",
};
const WAYS = ["traced", "plain"] as const;
type Way = (typeof WAYS)[number];
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
  for (const kind of Object.keys(BURST) as Kind[]) {
    const samples = { traced: [] as number[], plain: [] as number[] };
    const blocks = quick ? 3 : 30;
    for (let block = -1; block < blocks; block++) {
      const usedMs = await cpuOfBursts(workers, kind);
      if (block < 0) continue;
      for (const way of WAYS) samples[way].push(usedMs[way]);
    }
    const ratios = samples.traced.map((value, block) => value / (samples.plain[block] ?? NaN));
    const range = [quantile(ratios, 0.1), quantile(ratios, 0.9)] as const;
    figures.push({
      name: `CPU of ${NAMES[kind]}, with traces`,
      unit: "ms",
      raw: { interlock: median(samples.traced) },
      ratio: { to: "without traces", value: median(ratios), range, atMost: AIM },
    });
  }
  await Promise.all(WAYS.map((way) => workers[way].stop()));
  return figures;
}

/** Lets both ways make the same runs, burst by burst. Answers what one run of each took. */
async function cpuOfBursts(
  workers: Readonly<Record<Way, Contender>>,
  kind: Kind,
): Promise<Record<Way, number>> {
  const usedMs = (): Record<Way, number> => ({
    traced: threadsMs(workers.traced.workerdPid),
    plain: threadsMs(workers.plain.workerdPid),
  });
  const { [kind]: scenario } = SCENARIOS;
  const before = usedMs();
  await takeTurns(WAYS, BURSTS, async (way) => {
    for (let run = 0; run < BURST[kind]; run++) {
      await chat(workers[way], scenario, scenario.type === "chain" ? 8 : scenario.deltas);
    }
  });
  await wait(AFTERWARDS_MS);
  const after = usedMs();
  const runs = BURSTS * BURST[kind];
  return {
    traced: (after.traced - before.traced) / runs,
    plain: (after.plain - before.plain) / runs,
  };
}
