import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What of vitest's JSON report the closing line needs. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly success: boolean;
}

/** Runs the checks, then every test, and closes with a line that counts. */
function main(): number {
  const checks = run("scripts/check.ts", []);
  const scratch = mkdtempSync(join(tmpdir(), "interlock-test-"));
  const reportFile = join(scratch, "report.json");
  const vitest = run("node_modules/vitest/vitest.mjs", [
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile=${reportFile}`,
    ...process.argv.slice(2),
  ]);
  let report: Report;
  try {
    report = JSON.parse(readFileSync(reportFile, "utf8")) as Report;
  } catch {
    console.error("the tests left no report");
    return 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = report;
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return checks === 0 && vitest === 0 && report.success && passed > 0 ? 0 : 1;
}

function run(script: string, args: string[]): number {
  return spawnSync(process.execPath, [script, ...args], { stdio: "inherit" }).status ?? 1;
}

process.exitCode = main();
