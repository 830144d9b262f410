import { join } from "node:path";
import { createVitest } from "vitest/node";
import { escapePattern } from "./escape-pattern.ts";
import type { Asked, Ended } from "./test-process.ts";

/** A change may make a test wait for what never comes. */
const TEST_TIMEOUT_MS = 60_000;

await main(process.argv.slice(2));

/** Serves `TestProcess`. Keeps vitest, so that a run after a change reads only what changed. */
async function main(project: string[]): Promise<void> {
  const root = process.cwd();
  const options = {
    root,
    project,
    watch: false,
    reporters: [{}],
    testTimeout: TEST_TIMEOUT_MS,
    // A mutant has one test. Another worker would load the product only for the first run.
    maxWorkers: 1,
  };
  const vitest = await createVitest("test", options);
  process.on("message", ({ tests, changed }: Asked) => {
    for (const file of changed) vitest.invalidateFile(join(root, file));
    const names = tests.map(({ name }) => escapePattern(name));
    vitest.setGlobalTestNamePattern(new RegExp(`(?:${names.join("|")})$`));
    void run(new Set(tests.map(({ file }) => join(root, file))));
  });

  async function run(files: ReadonlySet<string>): Promise<void> {
    const all = await vitest.globTestSpecifications([...files]);
    const asked = all.filter(({ moduleId }) => files.has(moduleId));
    const { testModules } = await vitest.runTestSpecifications(asked);
    const ended: Ended[] = testModules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        file: module.relativeModuleId,
        name: test.name,
        state: test.result().state,
        error: test.result().errors?.[0]?.message,
      })),
    );
    process.send?.(ended);
  }
}
