import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Counts } from "./count-reporter.ts";

/** Runs every test, and beside them the checks; prints the counts in the last line. */
async function main(): Promise<number> {
  console.log(describeSample(process.env));
  const checks = runAside(["scripts/check.ts"]);
  const scratch = mkdtempSync(join(tmpdir(), "interlock-test-"));
  const countsFile = join(scratch, "counts.json");
  process.env["COUNTS_FILE"] = countsFile;
  const vitest = await run([
    "node_modules/vitest/vitest.mjs",
    "run",
    "--reporter=default",
    "--reporter=./scripts/count-reporter.ts",
    ...process.argv.slice(2),
  ]);
  const { status: checksStatus, output } = await checks;
  console.log(output.trimEnd());
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
  return checksStatus === 0 && vitest === 0 && counts.passed > 0 ? 0 : 1;
}

/** Says how a failure of this test run is repeated: the seed picks races and crashes. */
function describeSample({ TEST_SEED = "1", TEST_FULL }: NodeJS.ProcessEnv): string {
  return TEST_FULL
    ? `races and crashes: all of them, with TEST_SEED=${TEST_SEED}`
    : `races and crashes: the sample of TEST_SEED=${TEST_SEED}; npm run test:full runs all of them`;
}

/** @returns the exit status. What the program prints is shown at once. */
function run(args: string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: "inherit" });
    child.on("error", () => resolve(1));
    child.on("close", (status) => resolve(status ?? 1));
  });
}

/** As `run`, for a program that runs beside another: what it prints is kept until it ends. */
function runAside(args: string[]): Promise<{ readonly status: number; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    child.on("error", (error) => resolve({ status: 1, output: error.message }));
    child.on("close", (status) => resolve({ status: status ?? 1, output }));
  });
}

process.exitCode = await main();
