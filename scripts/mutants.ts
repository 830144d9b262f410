import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { spawnSync } from "node:child_process";
import { AREAS } from "./mutants/areas.ts";
import type { Mutant } from "./mutants/mutant.ts";

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

/**
 * Removes each protection of the named areas, or of all, in a copy, and expects its test to fail.
 */
function main(): void {
  const asked = process.argv.slice(2);
  const areas = asked.length > 0 ? asked : Object.keys(AREAS);
  const mutants = areas.flatMap((area) => AREAS[area] ?? refuse(area));
  const copy = mkdtempSync(join(tmpdir(), "interlock-mutants-"));
  try {
    for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    const survivors = mutants.filter((mutant) => !isCaught(copy, mutant));
    console.log(`${mutants.length - survivors.length} of ${mutants.length} mutants caught`);
    if (survivors.length > 0) process.exitCode = 1;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function refuse(area: string): never {
  console.error(`There is no area ${area}; there are ${Object.keys(AREAS).join(", ")}.`);
  process.exit(2);
}

/**
 * Runs the test before and after the change. A test that fails before the change proves nothing.
 */
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
  const pattern = `${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
  const { status, stdout } = spawnSync(
    join(ROOT, "node_modules/.bin/vitest"),
    ["run", file, "--testTimeout=20000", "-t", pattern],
    { cwd: copy, encoding: "utf8" },
  );
  if (!/Tests .*\d+ (?:passed|failed)/.test(stdout)) throw new Error(`no such test: ${name}`);
  return status === 0;
}
