import { spawn } from "node:child_process";
import { runVitest } from "./run-vitest.ts";

/** Runs every test, and beside them the checks; prints the counts in the last line. */
async function main(): Promise<number> {
  console.log(describeSample(process.env));
  const checks = runAside(["scripts/check.ts"]);
  const { passed, counts, uncaught } = await runVitest(process.argv.slice(2), (line) =>
    console.log(line),
  );
  const { status: checksStatus, output } = await checks;
  console.log(output.trimEnd());
  if (!counts) {
    console.error("the tests did not come to their end");
    return 1;
  }
  if (uncaught > 0)
    console.error(`${uncaught} uncaught exceptions that no test planned, see above`);
  const failed = counts.failed + uncaught;
  console.log(`${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`);
  return checksStatus === 0 && passed && counts.passed > 0 ? 0 : 1;
}

/** Says how a failure of this test run is repeated: the seed picks races and crashes. */
function describeSample({ TEST_SEED = "1", TEST_FULL }: NodeJS.ProcessEnv): string {
  return TEST_FULL
    ? `races and crashes: all of them, with TEST_SEED=${TEST_SEED}`
    : `races and crashes: the sample of TEST_SEED=${TEST_SEED}; npm run test:full runs all of them`;
}

/** Runs a program beside the tests: what it prints is kept until it ends. */
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
