import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { readBenchArguments, type BenchArguments } from "./arguments.ts";
import { planContenders, CONTENDERS, type ContenderName } from "./contenders/plan.ts";
import { startContender, startUpstream, stopAll, type Contender } from "./contenders/start.ts";
import type { Bench, Figure, Measure } from "./measure.ts";
import { measureArguments } from "./measures/arguments.ts";
import { measureBurst } from "./measures/burst.ts";
import { measureChain } from "./measures/chain.ts";
import { measureColdStart } from "./measures/cold-start.ts";
import { measureConversations } from "./measures/conversations.ts";
import { measureDecoder } from "./measures/decoder.ts";
import { measureDurability } from "./measures/durability.ts";
import { measureFirstByte } from "./measures/first-byte.ts";
import { measureGameplan } from "./measures/gameplan.ts";
import { measureGates } from "./measures/gates.ts";
import { measureGrowth } from "./measures/growth.ts";
import { measureManyRuns } from "./measures/many-runs.ts";
import { measureMemory } from "./measures/memory.ts";
import { measurePaced } from "./measures/paced.ts";
import { measureRunCost } from "./measures/run-cost.ts";
import { measureStatements } from "./measures/statements.ts";
import { measureTenantLoad } from "./measures/tenant-load.ts";
import { measureTraces } from "./measures/traces.ts";
import { measureTogether } from "./measures/together.ts";
import { measureWires } from "./measures/wires.ts";
import { measureWorkspace } from "./measures/workspace.ts";
import { measureWrites } from "./measures/writes.ts";
import { formatTable } from "./report.ts";

const MEASURES: Readonly<Record<string, Measure>> = {
  "first-byte": measureFirstByte,
  burst: measureBurst,
  paced: measurePaced,
  chain: measureChain,
  arguments: measureArguments,
  together: measureTogether,
  wires: measureWires,
  traces: measureTraces,
  "run-cost": measureRunCost,
  writes: measureWrites,
  statements: measureStatements,
  "cold-start": measureColdStart,
  memory: measureMemory,
  "many-runs": measureManyRuns,
  decoder: measureDecoder,
  gates: measureGates,
  durability: measureDurability,
  growth: measureGrowth,
  tenant: measureTenantLoad,
  conversations: measureConversations,
  workspace: measureWorkspace,
  gameplan: measureGameplan,
};
const NAMES = Object.keys(MEASURES).join(", ");
const USAGE = `Usage: npm run bench -- [--quick] [--memory-disk] [--only MEASURE,...]
Measures: ${NAMES}`;
/** A file system in memory, as Linux has it. */
const MEMORY_FOLDER = "/dev/shm";
const RESULTS = join(import.meta.dirname, "results.json");

await main();

/** Measures Interlock and its contenders, prints one table and stores the figures. */
async function main(): Promise<void> {
  const { only, quick, memoryDisk } = readArguments();
  if (!existsSync("/proc/self/smaps_rollup")) refuse("The bench reads /proc, so it needs Linux.");
  const folder = mkdtempSync(join(memoryDisk ? MEMORY_FOLDER : tmpdir(), "interlock-bench-"));
  // Every Worker stores its objects below the temporary folder.
  process.env["TMPDIR"] = folder;
  const end = async (code: number): Promise<never> => {
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void end(1));
  }
  try {
    const { figures, failed } = await measureAll(await prepare(quick), only);
    console.log(`\n${formatTable(figures)}`);
    if (failed.length > 0) console.error(`\nFailed, see above: ${failed.join(", ")}`);
    const machine = `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`;
    const date = new Date().toISOString();
    const results = { date, machine, memoryDisk, quick, failed, figures };
    writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
    await end(failed.length > 0 ? 1 : 0);
  } catch (error) {
    console.error(error);
    await end(1);
  }
}

function readArguments(): BenchArguments {
  try {
    return readBenchArguments(process.argv.slice(2), Object.keys(MEASURES));
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(reason: string): never {
  console.error(`${reason}\n${USAGE}`);
  process.exit(2);
}

async function prepare(quick: boolean): Promise<Bench> {
  console.log("starting the upstream and the Workers");
  const upstream = await startUpstream();
  const plans = await planContenders(`http://127.0.0.1:${upstream.port}/v1`);
  const started = await Promise.all(
    CONTENDERS.map(async (name) => [name, await startContender(plans[name])] as const),
  );
  const contenders = Object.fromEntries(started) as Record<ContenderName, Contender>;
  const direct = { port: upstream.port, path: "/v1/chat/completions" };
  return { direct, contenders, plans, quick };
}

/** A measure that fails loses only its own figures. */
async function measureAll(
  bench: Bench,
  only: readonly string[],
): Promise<{ readonly figures: readonly Figure[]; readonly failed: readonly string[] }> {
  const figures: Figure[] = [];
  const failed: string[] = [];
  for (const [name, measure] of Object.entries(MEASURES)) {
    if (!only.includes(name)) continue;
    process.stdout.write(`measuring ${name} ...`);
    const startMs = performance.now();
    try {
      figures.push(...(await measure(bench)));
      console.log(` ${((performance.now() - startMs) / 1_000).toFixed(0)} s`);
    } catch (error) {
      failed.push(name);
      console.error(" failed:", error);
    }
  }
  return { figures, failed };
}
