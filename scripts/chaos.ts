import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { closeBrowser } from "./browser.ts";
import { bundleChaosWorker, planDeployment } from "./chaos/host/deployment.ts";
import { Operator } from "./chaos/people/operator.ts";
import type { Part, PartResult } from "./chaos/part.ts";
import { conversations } from "./chaos/parts/conversations.ts";
import { killMatrix } from "./chaos/parts/kill-matrix.ts";
import { miniflareKills, wranglerKills } from "./chaos/parts/process-kills.ts";
import { repeats } from "./chaos/parts/repeats.ts";
import { sameKey } from "./chaos/parts/same-key.ts";
import { storm } from "./chaos/parts/storm.ts";
import { subscribers } from "./chaos/parts/subscribers.ts";
import { wireKills } from "./chaos/parts/wire-kills.ts";
import { changeOver } from "./chaos/parts/change-over.ts";
import { tenant } from "./chaos/parts/tenant.ts";
import { bin } from "./chaos/parts/bin.ts";
import { sagas } from "./chaos/parts/sagas.ts";
import { undo } from "./chaos/parts/undo.ts";
import { workspaces } from "./chaos/parts/workspaces.ts";
import { createProgressLine } from "./chaos/progress-line.ts";
import { reportTable, writeReport } from "./chaos/report.ts";
import { startWorld } from "./chaos/world/world.ts";

const PARTS: readonly Part[] = [
  killMatrix,
  storm,
  tenant,
  changeOver,
  undo,
  workspaces,
  sagas,
  bin,
  sameKey,
  conversations,
  subscribers,
  miniflareKills,
  wranglerKills,
  wireKills,
  repeats,
];
const USAGE = `Usage: npm run chaos -- [--only ${PARTS.map(({ name }) => name).join("|")}]... [--seed N] [--short]`;
const DEFAULT_SEED = 1;

process.exitCode = await main();

/**
 * Crashes runs at every possible point, and proves that nothing is lost and nothing happens twice.
 */
async function main(): Promise<number> {
  const { parts, seed, isShort } = readArguments();
  const progress = createProgressLine(process.stdout);
  const scratch = mkdtempSync(join(tmpdir(), "interlock-chaos-"));
  const world = await startWorld();
  const results: (readonly [Part, PartResult])[] = [];
  try {
    const context = {
      world,
      deployment: planDeployment(await bundleChaosWorker(), world.url),
      operator: new Operator(world, seed),
      seed,
      isShort,
      makeDirectory: () => mkdtempSync(join(scratch, "state-")),
      progress,
    };
    const run = async (part: Part): Promise<readonly [Part, PartResult]> => {
      progress.keep(`${part.name}, seed ${seed}: ${part.claim}`);
      return [part, await part.run(context).catch((error: unknown) => broken(part, error))];
    };
    // The parts of a short proof mostly wait, so they run together. A full part needs the whole
    // machine.
    if (isShort) results.push(...(await Promise.all(parts.map(run))));
    else for (const part of parts) results.push(await run(part));
  } finally {
    await closeBrowser();
    await world.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
  console.log(reportTable(results));
  const isSound = results.every(([, { failures }]) => failures.length === 0);
  if (isSound && !isShort && parts === PARTS) writeReport(results);
  if (!isSound) console.error(`chaos: FAIL, seed ${seed}; the failing cases are named above`);
  return isSound ? 0 : 1;
}

/** Turns an exception of a part into a failure of the proof. */
function broken({ name }: Part, error: unknown): PartResult {
  console.error(error);
  return { counts: {}, failures: [{ name, problems: [String(error)] }] };
}

function readArguments(): {
  readonly parts: readonly Part[];
  readonly seed: number;
  readonly isShort: boolean;
} {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string", multiple: true },
        seed: { type: "string", default: String(DEFAULT_SEED) },
        short: { type: "boolean", default: false },
      },
    });
    const { only, short } = values;
    const parts = only === undefined ? PARTS : PARTS.filter(({ name }) => only.includes(name));
    const seed = Number(values.seed);
    if (parts.length === (only ?? PARTS).length && Number.isSafeInteger(seed))
      return { parts, seed, isShort: short };
  } catch {
    // Answered below.
  }
  console.error(USAGE);
  process.exit(2);
}
