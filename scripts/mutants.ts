import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { AREAS } from "./mutants/areas.ts";
import type { Mutant } from "./mutants/mutant.ts";

const ROOT = resolve(import.meta.dirname, "..");
const COPIED = [
  "src",
  "apps",
  "durable-objects",
  "test",
  "cli",
  "scripts",
  "dist",
  ".interlock",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  "wrangler.toml",
] as const;
/** Copies of the sources in which mutants are tried at the same time. */
const LANES = 2;

await main();

/**
 * Removes each protection of the named areas, or of all, in a copy, and expects its test to fail.
 * With `--only TEXT`, takes the mutants whose name contains the text. The tests of a file first run
 * once without a change: a test that fails then proves nothing.
 */
async function main(): Promise<void> {
  const mutants = readMutants();
  const byTestFile = [...Map.groupBy(mutants, ({ test }) => test.file)];
  let tried = 0;
  let caught = 0;
  const lane = async (): Promise<void> => {
    const copy = copySources();
    try {
      for (let next = byTestFile.shift(); next !== undefined; next = byTestFile.shift()) {
        const [file, ofFile] = next;
        const green = await runTests(copy, [file]);
        for (const mutant of ofFile) {
          const verdict = await tryMutant(copy, mutant, green);
          if (verdict === "caught") caught++;
          const count = `${++tried}/${mutants.length}`;
          console.log(`${count} ${verdict}: ${mutant.name}\n    ${file}: ${mutant.test.name}`);
        }
      }
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  console.log(`${caught} of ${mutants.length} mutants caught`);
  if (caught < mutants.length) process.exitCode = 1;
}

function readMutants(): readonly Mutant[] {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { only: { type: "string", default: "" } },
  });
  const areas = positionals.length > 0 ? positionals : Object.keys(AREAS);
  const mutants = areas.flatMap((area) => {
    const ofArea = AREAS[area];
    return (
      ofArea ?? refuse(`There is no area ${area}; there are ${Object.keys(AREAS).join(", ")}.`)
    );
  });
  const asked = mutants.filter(({ name }) => name.includes(values.only));
  return asked.length > 0 ? asked : refuse(`No mutant's name contains "${values.only}".`);
}

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

function copySources(): string {
  const copy = mkdtempSync(join(tmpdir(), "interlock-mutants-"));
  for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** `BROKE`: the test run ended without a failed test, so the change is no useful mutant. */
type Verdict = "caught" | "SURVIVED" | "BROKE" | "RED WITHOUT IT" | "NO SUCH TEST" | "NO SUCH TEXT";

async function tryMutant(
  copy: string,
  { file, from, to, test }: Mutant,
  green: TestRun,
): Promise<Verdict> {
  if (!green.all.some((name) => name.endsWith(test.name))) return "NO SUCH TEST";
  if (green.failed.some((name) => name.endsWith(test.name))) return "RED WITHOUT IT";
  const path = join(copy, file);
  const before = readFileSync(path, "utf8");
  if (before.split(from).length !== 2) return "NO SUCH TEXT";
  writeFileSync(
    path,
    before.replace(from, () => to),
  );
  const pattern = `${test.name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
  const { failed, passed, status } = await runTests(copy, [test.file, "-t", pattern]);
  writeFileSync(path, before);
  if (failed.length > 0) return "caught";
  // vitest leaves out every test without a word when the name begins in the middle of a title.
  if (status === 0 && passed.length === 0) return "NO SUCH TEST";
  return status === 0 ? "SURVIVED" : "BROKE";
}

/** Full names of the tests that ran, and the exit code. */
interface TestRun {
  readonly all: readonly string[];
  readonly failed: readonly string[];
  readonly passed: readonly string[];
  readonly status: number | null;
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function runTests(copy: string, args: readonly string[]): Promise<TestRun> {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const vitest = spawn(
    join(ROOT, "node_modules/.bin/vitest"),
    ["run", ...args, "--testTimeout=20000", "--reporter=json", `--outputFile=${report}`],
    { cwd: copy, stdio: "ignore" },
  );
  return new Promise((done, broke) => {
    vitest.on("error", broke);
    vitest.on("close", (status) => {
      const tests = readReport(report).testResults.flatMap((one) => one.assertionResults);
      const namesOf = (wanted: typeof tests): readonly string[] =>
        wanted.map(({ fullName }) => fullName);
      done({
        all: namesOf(tests),
        failed: namesOf(tests.filter((one) => one.status === "failed")),
        passed: namesOf(tests.filter((one) => one.status === "passed")),
        status,
      });
    });
  });
}

/** Reads vitest's report. A test run that broke before its end leaves none. */
function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return { testResults: [] };
  }
}
