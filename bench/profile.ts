import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { chat } from "./client.ts";
import { bundleContender } from "./contenders/bundle.ts";
import { planContenders } from "./contenders/plan.ts";
import { startContender, startUpstream, stopAll } from "./contenders/start.ts";
import { connectInspector } from "./inspector.ts";
import { SCENARIOS } from "./upstream/scenario.ts";

const SAMPLING_INTERVAL_US = 100;
const WARM_UP_RUNS = 20;
const RUNS = 60;
const LISTED = 40;

/** A node of the profile that the DevTools protocol answers with. */
interface ProfileNode {
  readonly id: number;
  readonly hitCount?: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
}

const USAGE =
  "Usage: npm --prefix bench run profile -- [--scenario burst|single|chain|firstByte] [--out FILE]";

/** Shows where Interlock's own JavaScript spends its time, function by function. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { scenario: { type: "string", default: "burst" }, out: { type: "string" } },
  });
  const name = values.scenario;
  if (!isProfiled(name)) throw new Error(USAGE);
  try {
    const upstream = await startUpstream();
    const plans = await planContenders(`http://127.0.0.1:${upstream.port}/v1`);
    const code = await bundleContender("interlock-worker.ts", { minify: false });
    const contender = await startContender({ ...plans.interlock, code }, true);
    const inspector = await connectInspector(String(contender.inspectorUrl));
    const deltas = name === "chain" ? 8 : SCENARIOS[name].deltas;
    const run = (): Promise<unknown> => chat(contender, SCENARIOS[name], deltas);
    for (let index = 0; index < WARM_UP_RUNS; index++) await run();
    await inspector.send("Profiler.enable");
    await inspector.send("Profiler.setSamplingInterval", { interval: SAMPLING_INTERVAL_US });
    await inspector.send("Profiler.start");
    for (let index = 0; index < RUNS; index++) await run();
    const { profile } = (await inspector.send("Profiler.stop")) as {
      profile: { nodes: ProfileNode[] };
    };
    if (values.out) writeFileSync(values.out, JSON.stringify(profile));
    list(profile.nodes);
    inspector.close();
  } finally {
    await stopAll();
  }
}

function isProfiled(name: string): name is "burst" | "single" | "chain" | "firstByte" {
  return ["burst", "single", "chain", "firstByte"].includes(name);
}

/** Prints the functions with the most samples, without idle time. */
function list(nodes: readonly ProfileNode[]): void {
  const samples = new Map<string, number>();
  let total = 0;
  for (const { hitCount = 0, callFrame } of nodes) {
    const { functionName, lineNumber } = callFrame;
    if (functionName === "(idle)") continue;
    const name = `${functionName || "(anonymous)"}:${lineNumber + 1}`;
    samples.set(name, (samples.get(name) ?? 0) + hitCount);
    total += hitCount;
  }
  const ranked = [...samples].toSorted(([, a], [, b]) => b - a).slice(0, LISTED);
  for (const [name, count] of ranked) {
    console.log(`${((count / total) * 100).toFixed(1).padStart(6)} %  ${name}`);
  }
}

await main();
