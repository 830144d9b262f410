import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { spawnSync } from "node:child_process";

/** One protection taken away, and the test that has to notice. */
interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly test: { readonly file: string; readonly name: string };
}

const AT_MOST_ONCE = "test/durable-objects/at-most-once.test.ts";

const MUTANTS: readonly Mutant[] = [
  {
    name: "the record is not durable before the effect",
    file: "durable-objects/run/stored-journal.ts",
    from: "await this.#ports.sync();",
    to: "",
    test: {
      file: AT_MOST_ONCE,
      name: "an effect within the process is on record before it happens, so that no crash repeats it",
    },
  },
];

const ROOT = resolve(import.meta.dirname, "..");
const COPIED = [
  "src",
  "durable-objects",
  "test",
  "scripts",
  "dist",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  "wrangler.toml",
] as const;

main();

/** Takes each protection away in a copy of the project and runs the test that is to go red. */
function main(): void {
  const copy = mkdtempSync(join(tmpdir(), "interlock-mutants-"));
  try {
    for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    const survivors = MUTANTS.filter((mutant) => !isCaught(copy, mutant));
    console.log(`${MUTANTS.length - survivors.length} of ${MUTANTS.length} mutants caught`);
    if (survivors.length > 0) process.exitCode = 1;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** A test that is red before the change would prove nothing. */
function isCaught(copy: string, { name, file, from, to, test }: Mutant): boolean {
  const path = join(copy, file);
  const before = readFileSync(path, "utf8");
  if (before.split(from).length !== 2) throw new Error(`${file} does not hold once: ${from}`);
  const isGreen = passes(copy, test);
  writeFileSync(path, before.replace(from, to));
  const isRed = !passes(copy, test);
  writeFileSync(path, before);
  const verdict = !isGreen ? "RED WITHOUT IT" : isRed ? "caught  " : "SURVIVED";
  console.log(`${verdict}  ${name}\n          ${test.file}: ${test.name}`);
  return isGreen && isRed;
}

function passes(copy: string, { file, name }: Mutant["test"]): boolean {
  const pattern = `^.*${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
  const { status, stdout } = spawnSync(
    join(ROOT, "node_modules/.bin/vitest"),
    ["run", "--project", "workerd", file, "-t", pattern],
    { cwd: copy, encoding: "utf8" },
  );
  if (!/Tests .*\d+ (?:passed|failed)/.test(stdout)) throw new Error(`no such test: ${name}`);
  return status === 0;
}
