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

/** Two processes of one way differ by up to a twentieth, so several of each are measured. */
const PROCESSES = 8;
/** Samples of one process. */
const BLOCKS = 4;

/** Measures the processor time of runs with traces beside the same runs without. */
export async function measureTraces(bench: Bench): Promise<readonly Figure[]> {
  const { quick } = bench;
  const samples: Record<Kind, Record<Way, number[]>> = {
    singleShort: { traced: [], plain: [] },
    chain: { traced: [], plain: [] },
  };
  for (let pair = 0; pair < (quick ? 2 : PROCESSES); pair++) {
    const workers = await startBoth(bench, pair);
    for (const kind of Object.keys(BURST) as Kind[]) {
      const used: Record<Way, number[]> = { traced: [], plain: [] };
      for (let block = -1; block < (quick ? 2 : BLOCKS); block++) {
        const usedMs = await cpuOfBursts(workers, kind);
        if (block < 0) continue;
        for (const way of WAYS) used[way].push(usedMs[way]);
      }
      for (const way of WAYS) samples[kind][way].push(median(used[way]));
    }
    await Promise.all(WAYS.map((way) => workers[way].stop()));
  }
  return (Object.keys(BURST) as Kind[]).map((kind) => figureOf(kind, samples[kind]));
}

/** Starts a process of each way, in another order each time. */
async function startBoth(
  { plans, direct }: Bench,
  pair: number,
): Promise<Readonly<Record<Way, Contender>>> {
  const { texts, ...plan } = plans.interlock;
  const address = `http://127.0.0.1:${direct.port}`;
  const start = {
    traced: async () =>
      startContender({
        ...plan,
        texts: { ...texts, OTEL_EXPORTER_OTLP_ENDPOINT: address },
        code: await bundleContender("traces-worker.ts"),
      }),
    plain: () => startContender(plans.interlock),
  };
  const workers: Partial<Record<Way, Contender>> = {};
  for (const way of pair % 2 === 0 ? WAYS : WAYS.toReversed()) workers[way] = await start[way]();
  return workers as Record<Way, Contender>;
}

/** Compares the medians of both ways, pair by pair. */
function figureOf(kind: Kind, { traced, plain }: Readonly<Record<Way, number[]>>): Figure {
  const ratios = traced.map((value, pair) => value / (plain[pair] ?? NaN));
  return {
    name: `CPU of ${NAMES[kind]}, with traces`,
    unit: "ms",
    raw: { interlock: median(traced) },
    ratio: {
      to: "without traces",
      value: median(ratios),
      range: [quantile(ratios, 0.1), quantile(ratios, 0.9)],
      atMost: AIM,
    },
  };
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
