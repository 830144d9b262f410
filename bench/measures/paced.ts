import { readChat, type Target } from "../client.ts";
import {
  emptySamples,
  interleave,
  pairedFigures,
  type Aims,
  type Bench,
  type Figure,
} from "../measure.ts";
import { cpuMs } from "../process-usage.ts";
import { median, quantile } from "../statistics.ts";
import { MARK } from "../upstream/answers.ts";
import { PACE_MS, SCENARIOS } from "../upstream/scenario.ts";

const STREAMS = 64;
const NS_PER_MS = 1e6;
const STAMP = new RegExp(`${MARK}(\\d+);`, "g");

/** Measures many parallel answers at talking speed: the delay of each delta, and processor time. */
export async function measurePaced(bench: Bench): Promise<readonly Figure[]> {
  const cpu = emptySamples();
  const p50 = emptySamples();
  const p99 = emptySamples();
  const direct: number[] = [];
  const rounds = bench.quick ? 1 : 5;
  // Warms up the client.
  await readMany(bench.direct);
  await interleave(rounds, async (name) => {
    if (name === "interlock") direct.push(median(await readMany(bench.direct)));
    const contender = bench.contenders[name];
    const beforeMs = cpuMs(contender.workerdPid);
    const delaysMs = await readMany(contender);
    cpu[name].push(((cpuMs(contender.workerdPid) - beforeMs) / delaysMs.length) * 1_000);
    p50[name].push(quantile(delaysMs, 0.5));
    p99[name].push(quantile(delaysMs, 0.99));
  });
  const figures = (name: string, samples: typeof cpu, aims: Aims): readonly Figure[] =>
    pairedFigures({ name: `${STREAMS} streams: ${name}`, unit: "ms" }, samples, aims);
  const [relay, ...others] = figures("relay of a delta, p50", p50, { honoOpenai: undefined });
  return [
    ...(relay ? [{ ...relay, raw: { direct: median(direct), ...relay.raw } }] : []),
    ...others,
    ...figures("relay of a delta, p99", p99, { rewrite: 3, honoOpenai: undefined }),
    ...figures("CPU per 1,000 deltas", cpu, { honoOpenai: 0.9, rewrite: undefined }),
  ];
}

/** Reads the answers, spread over one beat. Returns the delay of every delta. */
async function readMany(target: Target): Promise<readonly number[]> {
  const delaysMs: number[] = [];
  const streams = Array.from({ length: STREAMS }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, (index * PACE_MS) / STREAMS));
    const read = delayReader(delaysMs);
    await readChat(target, SCENARIOS.paced, read);
  });
  await Promise.all(streams);
  const expected = STREAMS * SCENARIOS.paced.deltas;
  if (delaysMs.length !== expected) {
    throw new Error(`port ${target.port} sent ${delaysMs.length} deltas of ${expected}`);
  }
  return delaysMs;
}

/** Finds the time stamps in a stream. Both processes use the system clock. */
function delayReader(delaysMs: number[]): (chunk: Buffer) => void {
  let rest = "";
  return (chunk) => {
    const nowNs = Number(process.hrtime.bigint());
    const text = rest + chunk.toString("latin1");
    let end = 0;
    for (const stamp of text.matchAll(STAMP)) {
      delaysMs.push((nowNs - Number(stamp[1])) / NS_PER_MS);
      end = stamp.index + stamp[0].length;
    }
    rest = text.slice(end);
  };
}
