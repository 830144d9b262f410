import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runVitest, type TestRun } from "../../scripts/run-vitest.ts";
import { TestOutput } from "../../scripts/test-output.ts";

const PLANTED = join(import.meta.dirname, "../fixtures/uncaught");

/** Runs planted test files; answers what the run came to, and what it printed. */
async function runPlanted(...files: readonly string[]): Promise<TestRun & { text: string }> {
  const lines: string[] = [];
  const run = await runVitest(["--root", PLANTED, ...files], (line) => lines.push(line));
  return { ...run, text: lines.join("\n") };
}

describe("a test run", () => {
  test("prints a test that fails and what it said, and nothing of tests that pass, nor of an object that a test ended", async () => {
    const { passed, counts, uncaught, text } = await runPlanted("abort", "fail");
    expect({ passed, counts, uncaught }).toEqual({
      passed: false,
      counts: { passed: 1, failed: 1, skipped: 0, secondTries: 0 },
      uncaught: 0,
    });
    expect(text).toContain("2 of 2 test files, 1 failed");
    expect(text).toContain("expected 1 to be 2");
    expect(text).toContain("what a test that fails said");
    expect(text).not.toMatch(/chatter|exception|crash/);
  });

  test("names tests that passed on their second try only, and why, and fails when they are many", async () => {
    const one = await runPlanted("flaky", "-t", "passes on");
    expect([one.passed, one.counts?.passed, one.counts?.secondTries]).toEqual([true, 1, 1]);
    expect(one.text).toMatch(
      /second try: flaky.planted.ts > passes on .*\n.*a first try.*\n.*:6$/m,
    );
    const three = await runPlanted("flaky");
    expect([three.passed, three.counts?.passed, three.counts?.secondTries]).toEqual([false, 3, 3]);
  });

  test("fails when nobody caught an exception, and prints it, though every test passed", async () => {
    const { passed, counts, uncaught, text } = await runPlanted("reject");
    expect(text).toContain("nobody caught this");
    expect([passed, counts]).toMatchObject([false, { passed: 1, failed: 0, skipped: 0 }]);
    expect(uncaught).toBeGreaterThan(0);
  });
});

test("the stack of a dropped exception is dropped with it, and no other stack", () => {
  const output = new TestOutput();
  const gate = "exception = workerd/api/actor-state.c++:1268: failed: broken.outputGateBroken;";
  const shown = [
    `uncaught ${gate} jsg.Error: crash`,
    "stack: /workerd@2afbaf0",
    "uncaught exception; source = Uncaught (in promise); stack = Error: a real one",
    "    at RunObject.wake (run-object.ts:1:1)",
    `${gate} jsg.Error: crash of a disk`,
    "stack: /workerd@2afbaf0",
    "Using secrets defined in process.env",
    "a line",
  ].filter((line) => output.shows(line));
  expect(shown).toEqual([
    "uncaught exception; source = Uncaught (in promise); stack = Error: a real one",
    "    at RunObject.wake (run-object.ts:1:1)",
    `${gate} jsg.Error: crash of a disk`,
    "stack: /workerd@2afbaf0",
    "a line",
  ]);
  expect(output.uncaught).toBe(2);
});
