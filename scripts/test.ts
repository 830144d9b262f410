import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Counts } from "./count-reporter.ts";

/** Runs the checks, then every test, and prints the counts in the last line. */
function main(): number {
  const checks = run(["scripts/check.ts"]);
  console.log(describeSample(process.env));
  const scratch = mkdtempSync(join(tmpdir(), "interlock-test-"));
  const countsFile = join(scratch, "counts.json");
  process.env["COUNTS_FILE"] = countsFile;
  const vitest = run([
    "node_modules/vitest/vitest.mjs",
    "run",
    "--reporter=default",
    "--reporter=./scripts/count-reporter.ts",
    ...process.argv.slice(2),
  ]);
  let counts: Counts;
  try {
    counts = JSON.parse(readFileSync(countsFile, "utf8")) as Counts;
  } catch {
    console.error("the tests did not come to their end");
    return 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return checks === 0 && vitest === 0 && counts.passed > 0 ? 0 : 1;
}

/** Says how a failure of this test run is repeated: the seed picks races and crashes. */
function describeSample({ TEST_SEED = "1", TEST_FULL }: NodeJS.ProcessEnv): string {
  return TEST_FULL
    ? `races and crashes: all of them, with TEST_SEED=${TEST_SEED}`
    : `races and crashes: the sample of TEST_SEED=${TEST_SEED}; npm run test:full runs all of them`;
}

function run(args: string[]): number {
  return spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
}

process.exitCode = main();
