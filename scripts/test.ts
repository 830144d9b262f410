import { spawn, spawnSync } from "node:child_process";
import { chooseLongTests, leaveOut } from "./long-tests.ts";
import { runVitest, type TestRun } from "./run-vitest.ts";

/** Of so many commits, the changed tests come first. */
const LATE_COMMITS = 10;

/** Runs the tests and the checks; prints the counts in the last line. */
async function main(): Promise<number> {
  console.log(describeSample(process.env));
  const groups = groupsOf(process.argv.slice(2), process.env);
  const runs: TestRun[] = [];
  let checks: ReturnType<typeof runAside> | undefined;
  for (const [index, group] of groups.entries()) {
    // The last group is the chaos proof, which mostly waits.
    if (index === groups.length - 1) checks = runAside(["scripts/check.ts"]);
    runs.push(await runVitest(group, (line) => console.log(line)));
  }
  const ended = await checks;
  console.log(ended?.output.trimEnd());
  return ended?.status === 0 && report(runs) ? 0 : 1;
}

/** Says how a failure of this test run is repeated: the seed picks races and crashes. */
function describeSample({ TEST_SEED = "1", TEST_FULL }: NodeJS.ProcessEnv): string {
  return TEST_FULL
    ? `races and crashes: all of them, with TEST_SEED=${TEST_SEED}`
    : `races and crashes: the sample of TEST_SEED=${TEST_SEED}; npm run test:full runs all of them`;
}

/** The arguments of vitest for each group of tests that runs by itself. */
function groupsOf(args: string[], { TEST_FULL }: NodeJS.ProcessEnv): readonly string[][] {
  if (args.length > 0) return [args];
  const [commit = ""] = ask("rev-parse", "HEAD");
  const left = TEST_FULL ? [] : chooseLongTests(commit, changedLately()).left;
  if (left.length > 0) {
    console.log(
      "long tests: a third of them, chosen by the commit; npm run test:full runs all. Left:",
    );
    for (const file of left) console.log(`  ${file}`);
  }
  const others = ["--project=!chaos", ...leaveOut(left)];
  return [others, ["--project=chaos"]];
}

function changedLately(): ReadonlySet<string> {
  return new Set(ask("diff", "--name-only", `HEAD~${LATE_COMMITS}`));
}

/** The lines that git prints; none where this is no clone, or one of a few commits. */
function ask(...args: readonly string[]): readonly string[] {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8" });
  return status === 0 ? stdout.trim().split("\n") : [];
}

/** Prints the counts of all groups. Returns whether every test passed. */
function report(runs: readonly TestRun[]): boolean {
  const counts = runs.flatMap((run) => run.counts ?? []);
  if (counts.length < runs.length) {
    console.error("the tests did not come to their end");
    return false;
  }
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
  const uncaught = sum(runs.map((run) => run.uncaught));
  if (uncaught > 0)
    console.error(`${uncaught} uncaught exceptions that no test planned, see above`);
  const passed = sum(counts.map((run) => run.passed));
  const failed = sum(counts.map((run) => run.failed)) + uncaught;
  const skipped = sum(counts.map((run) => run.skipped));
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return runs.every((run) => run.passed) && passed > 0;
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
