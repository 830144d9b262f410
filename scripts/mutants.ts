import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Mutant, readMutants, takeAway } from "./mutants/list.ts";
import { type Ended, type NamedTest, TestProcess } from "./mutants/test-process.ts";

const ROOT = resolve(import.meta.dirname, "..");
const NOT_COPIED: ReadonlySet<string> = new Set([".git", ".wrangler", "node_modules"]);

await main();

/**
 * Takes each protection of the named areas, or of all, away in a copy, and expects its test to
 * fail. With `--list`, only holds the list against the code. With `--only TEXT`, tries the mutants
 * whose name contains the text; with `--sample N`, N of them, which `--seed S` picks (the commit,
 * if it is left out). The tests first run once without a change: a test that fails then proves
 * nothing.
 */
async function main(): Promise<void> {
  const mutants = chooseMutants();
  if (mutants.length === 0) return;
  const copy = copySources();
  const named = mutants.map(({ test }) => test);
  const tests = new TestProcess(
    copy,
    named.map(({ file }) => file),
  );
  let caught = 0;
  try {
    const green = await tests.run(named);
    for (const [index, mutant] of mutants.entries()) {
      const verdict = findFault(green, mutant.test) ?? (await tryMutant(copy, mutant, tests));
      if (verdict === "caught") caught++;
      console.log(`${index + 1}/${mutants.length} ${describe(mutant, verdict)}`);
      if (verdict === "RED WITHOUT IT") console.log(`    ${errorOf(green, mutant.test)}`);
    }
  } finally {
    tests.end();
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(`${caught} of ${mutants.length} mutants caught`);
  if (caught < mutants.length) process.exitCode = 1;
}

function chooseMutants(): readonly Mutant[] {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: "string", default: "" },
      list: { type: "boolean", default: false },
      sample: { type: "string" },
      seed: { type: "string" },
    },
  });
  const { mutants, faults } = readMutants(ROOT);
  if (faults.length > 0) refuse(`The list of mutants is not true:\n${faults.join("\n")}`);
  if (values.list) {
    console.log(`mutants: ${mutants.length}, each with its text and its test`);
    return [];
  }
  const areas = new Set(mutants.map(({ area }) => area));
  for (const area of positionals) {
    if (!areas.has(area)) refuse(`There is no area ${area}; there are ${[...areas].join(", ")}.`);
  }
  const asked = mutants
    .filter(({ area }) => positionals.length === 0 || positionals.includes(area))
    .filter(({ name }) => name.includes(values.only));
  if (asked.length === 0) refuse(`No mutant's name contains "${values.only}".`);
  if (values.sample === undefined) return asked;
  const count = Number(values.sample);
  if (!Number.isSafeInteger(count) || count < 1) refuse("--sample takes a whole number from 1.");
  const seed =
    values.seed ??
    execFileSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
  console.log(`${count} of ${asked.length} mutants; these again: --sample ${count} --seed ${seed}`);
  return pick(asked, count, seed);
}

/** Contract: one seed picks the same mutants, also when others join the list or leave it. */
function pick(mutants: readonly Mutant[], count: number, seed: string): readonly Mutant[] {
  const rankOf = ({ name }: Mutant): string =>
    createHash("sha256").update(`${seed} ${name}`).digest("hex");
  const ranked = mutants.map((mutant) => ({ mutant, rank: rankOf(mutant) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ mutant }) => mutant);
}

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

function copySources(): string {
  const copy = mkdtempSync(join(tmpdir(), "interlock-mutants-"));
  const filter = (path: string): boolean => !NOT_COPIED.has(basename(path));
  cpSync(ROOT, copy, { recursive: true, filter });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** `BROKE`: no test came to its end, so the change is no useful mutant. */
type Verdict = "caught" | "SURVIVED" | "BROKE" | "RED WITHOUT IT" | "NO SUCH TEST";

function findFault(green: readonly Ended[], test: NamedTest): Verdict | undefined {
  const states = statesOf(green, test);
  if (states.includes("failed")) return "RED WITHOUT IT";
  return states.includes("passed") ? undefined : "NO SUCH TEST";
}

async function tryMutant(copy: string, mutant: Mutant, tests: TestProcess): Promise<Verdict> {
  const { file, test } = mutant;
  const before = readFileSync(join(copy, file), "utf8");
  tests.write(file, takeAway(before, mutant));
  const states = statesOf(await tests.run([test]), test);
  tests.write(file, before);
  if (states.includes("failed")) return "caught";
  return states.includes("passed") ? "SURVIVED" : "BROKE";
}

function statesOf(ended: readonly Ended[], test: NamedTest): readonly Ended["state"][] {
  return find(ended, test).map(({ state }) => state);
}

/** A named test runs alone, so it fails here when it leans on an earlier test of its file. */
function errorOf(ended: readonly Ended[], test: NamedTest): string {
  return find(ended, test).find(({ error }) => error)?.error ?? "";
}

function find(ended: readonly Ended[], { file, name }: NamedTest): readonly Ended[] {
  return ended.filter((test) => test.file === file && test.name.endsWith(name));
}

function describe({ name, file, test }: Mutant, verdict: Verdict): string {
  const where = `    ${test.file}: ${test.name}`;
  if (verdict !== "SURVIVED") return `${verdict}: ${name}\n${where}`;
  return `SURVIVED: nothing notices when ${name}. This test passed with ${file} changed:\n${where}`;
}
