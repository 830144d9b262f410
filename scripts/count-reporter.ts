import { writeFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule, TestSpecification } from "vitest/node";

/** Number of tests by result. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Those of `passed` that failed at first. */
  readonly secondTries: number;
}

/** Lines of progress in a whole test run. */
const LINES = 10;

/**
 * Prints the progress of a test run, and writes the counts of a finished one to the file in
 * COUNTS_FILE.
 */
export default class CountReporter implements Reporter {
  #files = 0;
  #ended = 0;
  #failed = 0;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length;
  }

  onTestModuleEnd(module: TestModule): void {
    this.#ended++;
    if (!module.ok()) this.#failed++;
    const lines = Math.floor((this.#ended * LINES) / this.#files);
    const before = Math.floor(((this.#ended - 1) * LINES) / this.#files);
    if (lines === before) return;
    console.log(`${this.#ended} of ${this.#files} test files, ${this.#failed} failed`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0, secondTries: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        counts[test.result().state]++;
        if (!test.diagnostic()?.flaky) continue;
        counts.secondTries++;
        console.log(describeFirstTry(module, test));
      }
    }
    const { pending, ...ended } = counts;
    const file = process.env["COUNTS_FILE"];
    if (file) writeFileSync(file, JSON.stringify({ ...ended, failed: ended.failed + pending }));
  }
}

/** Says which test passed on its second try, and why the first one failed. */
function describeFirstTry(module: TestModule, test: TestCase): string {
  const [error] = test.result().errors ?? [];
  const why = error?.stacks?.map(({ file, line }) => `    at ${file}:${line}`) ?? [];
  const name = `${module.relativeModuleId} > ${test.fullName}`;
  return [`passed on its second try: ${name}`, `  ${error?.message ?? ""}`, ...why].join("\n");
}
