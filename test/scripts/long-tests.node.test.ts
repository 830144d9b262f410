import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chooseLongTests, leaveOut, LONG_TESTS } from "../../scripts/long-tests.ts";

const ROOT = join(import.meta.dirname, "../..");
const all = [...LONG_TESTS.keys()];
const SEEDS = Array.from({ length: 200 }, (_, index) => `commit ${index}`);
const secondsOf = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + (LONG_TESTS.get(file) ?? 0), 0);

test("each file that is named as long is there", () => {
  expect(all.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test("vitest leaves out the long tests that it is told to leave out, and nothing else", () => {
  const files = vitestFiles();
  const others = files.filter((file) => !LONG_TESTS.has(file));
  // Those of pages are not there without a browser.
  expect(files.length - others.length).toBeGreaterThan(5);
  expect(vitestFiles(...leaveOut(all))).toEqual(others);
});

test("a test run takes about a quarter of the time of long tests, and says what it leaves", () => {
  for (const seed of SEEDS) {
    const { taken, left } = chooseLongTests(seed, new Set());
    expect([...taken, ...left].toSorted()).toEqual(all.toSorted());
    expect(secondsOf(taken) / secondsOf(all)).toBeGreaterThan(0.15);
    expect(secondsOf(taken) / secondsOf(all)).toBeLessThan(0.36);
    expect(chooseLongTests(seed, new Set())).toEqual({ taken, left });
  }
});

test("no long test is left out often", () => {
  for (const file of all) {
    const times = SEEDS.filter((seed) => chooseLongTests(seed, new Set()).taken.includes(file));
    expect(times.length / SEEDS.length).toBeGreaterThan(0.12);
  }
});

test("a long test that changed lately is taken", () => {
  for (const seed of SEEDS) {
    for (const file of all) expect(chooseLongTests(seed, new Set([file])).taken).toContain(file);
  }
});

test("where every long test changed, a test run takes a quarter of them still", () => {
  for (const seed of SEEDS) {
    const { taken } = chooseLongTests(seed, new Set(all));
    expect(secondsOf(taken) / secondsOf(all)).toBeLessThan(0.36);
  }
});

/** The test files that vitest would run, by their paths from the root. */
function vitestFiles(...args: readonly string[]): readonly string[] {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const { stdout } = spawnSync(
    process.execPath,
    [vitest, "list", "--filesOnly", "--project=node", "--project=pages", ...args],
    { cwd: ROOT, encoding: "utf8" },
  );
  const files = stdout.matchAll(/^\[\w+\] (.+)$/gmu);
  return [...files].map(([, file = ""]) => file).toSorted();
}
