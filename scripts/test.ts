import { spawn, spawnSync } from "node:child_process";
import { availableParallelism, constants, setPriority } from "node:os";
import { chooseLongTests, leaveOut } from "./long-tests.ts";
import { runVitest, type TestRun } from "./run-vitest.ts";

/** Of so many commits, the changed tests come first. */
const LATE_COMMITS = 10;

/** Runs the tests and the checks; prints the counts in the last line. */
async function main(): Promise<number> {
  const [commit = ""] = ask("rev-parse", "HEAD");
  process.env["TEST_SEED"] ??= seedOf(commit);
  console.log(describeSample(process.env));
  const named = process.argv.slice(2);
  const checking = runAside(["scripts/check.ts"]);
  const runs = await (named.length > 0 ? runGroups({ tests: named }) : runAll(commit));
  const checks = await checking;
  console.log(checks.output.trimEnd());
  const passed = report(runs);
  return checks.status === 0 && passed ? 0 : 1;
}

/**
 * Runs every group of tests. They run at once, because pages wait for their servers, and chaos for
 * its crashes; each worker of a group loads the product. Chaos in all its parts needs the whole
 * machine, so it follows the others.
 */
async function runAll(commit: string): Promise<readonly TestRun[]> {
  const left = leaveOut(longTestsLeft(commit));
  process.env["TEST_WORKERS"] ??= `${availableParallelism()}`;
  const groups = {
    node: ["--project=!workerd", "--project=!chaos", ...left],
    workerd: ["--project=workerd", ...left],
  };
  const chaos = { chaos: ["--project=chaos"] };
  if (!process.env["TEST_FULL"]) return runGroups({ ...groups, ...chaos });
  return [...(await runGroups(groups)), ...(await runGroups(chaos))];
}

/** Runs groups at once; each line that one prints begins with its name. */
function runGroups(groups: Readonly<Record<string, string[]>>): Promise<readonly TestRun[]> {
  const runs = Object.entries(groups).map(([name, args]) =>
    runVitest(args, (line) => console.log(line === "" ? "" : `${name}: ${line}`)),
  );
  return Promise.all(runs);
}

/** A number that differs from commit to commit, as text. */
function seedOf(commit: string): string {
  return `${Number.parseInt(commit.slice(0, 6) || "1", 16)}`;
}

/** Says how a failure of this test run is repeated: the seed picks races and crashes. */
function describeSample({ TEST_SEED, TEST_FULL }: NodeJS.ProcessEnv): string {
  return TEST_FULL
    ? `races and crashes: all of them, with TEST_SEED=${TEST_SEED}`
    : `races and crashes: the sample of TEST_SEED=${TEST_SEED}; npm run test:full runs all of them`;
}

/** The long tests that this test run leaves out; prints them. */
function longTestsLeft(commit: string): readonly string[] {
  const { left } = chooseLongTests(commit, changedLately());
  if (process.env["TEST_FULL"] || left.length === 0) return [];
  console.log("long tests: a quarter, chosen by the commit; npm run test:full runs all. Left:");
  for (const file of left) console.log(`  ${file}`);
  return left;
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

/**
 * Runs a program beside the tests, in the time that they leave: what it prints is kept until it
 * ends.
 */
function runAside(args: string[]): Promise<{ readonly status: number; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    if (child.pid) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    child.on("error", (error) => resolve({ status: 1, output: error.message }));
    child.on("close", (status) => resolve({ status: status ?? 1, output }));
  });
}

process.exitCode = await main();
