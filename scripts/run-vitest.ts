import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Counts } from "./count-reporter.ts";
import { TestOutput } from "./test-output.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** More tests that pass on their second try only are a fault of what they share. */
const MAX_SECOND_TRIES = 2;

/** What a test run came to. */
export interface TestRun {
  /** The exit status of vitest was 0, nothing was uncaught, and few tests needed a second try. */
  readonly passed: boolean;
  /** Undefined when the tests did not come to their end. */
  readonly counts: Counts | undefined;
  /** Exceptions in workerd that no test planned. */
  readonly uncaught: number;
}

/** Runs vitest. `print` gets failures, progress, totals and exceptions, line by line. */
export async function runVitest(
  args: readonly string[],
  print: (line: string) => void,
): Promise<TestRun> {
  const scratch = mkdtempSync(join(tmpdir(), "interlock-test-"));
  const countsFile = join(scratch, "counts.json");
  const child = spawn(
    process.execPath,
    [
      join(ROOT, "node_modules/vitest/vitest.mjs"),
      "run",
      "--silent=passed-only",
      "--reporter=minimal",
      `--reporter=${join(ROOT, "scripts/count-reporter.ts")}`,
      ...args,
    ],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, COUNTS_FILE: countsFile } },
  );
  const ended = new Promise<number>((done) => {
    child.on("error", () => done(1));
    child.on("close", (status) => done(status ?? 1));
  });
  const [out, err] = await Promise.all([printLines(child.stdout), printLines(child.stderr)]);
  const uncaught = out + err;
  const counts = readCounts(countsFile);
  rmSync(scratch, { recursive: true, force: true });
  const { secondTries = 0 } = counts ?? {};
  if (secondTries > 0) print(`${secondTries} on a second try; at most ${MAX_SECOND_TRIES} may`);
  const isSound = uncaught === 0 && secondTries <= MAX_SECOND_TRIES;
  return { passed: (await ended) === 0 && isSound, counts, uncaught };

  async function printLines(stream: Readable): Promise<number> {
    const output = new TestOutput();
    for await (const line of createInterface({ input: stream })) {
      if (output.shows(line)) print(line);
    }
    return output.uncaught;
  }
}

function readCounts(file: string): Counts | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Counts;
  } catch {
    return undefined;
  }
}
