import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Number of tests by result. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Writes the counts of a finished test run to the file in COUNTS_FILE. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++;
    }
    const { pending, ...ended } = counts;
    const file = process.env["COUNTS_FILE"];
    if (file) writeFileSync(file, JSON.stringify({ ...ended, failed: ended.failed + pending }));
  }
}
