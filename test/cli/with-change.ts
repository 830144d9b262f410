import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { ok } from "../../src/protocol/outcome/result.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import type { ContractLock } from "../../cli/contracts/lock/contract-lock.ts";
import type { evaluate } from "../../cli/contracts/test/evaluate.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Inside node_modules, so that the packages are found and shared. */
const CACHE = join(ROOT, "node_modules/.cache");
const SOURCES = `
  export { evaluate } from "./cli/contracts/test/evaluate.ts";
  export { PLANTED } from "./test/cli/planted-contracts.ts";
`;

/** Files that read others beside themselves. */
const LOCATED = ["cli/contracts/test/modes/observation-contract.ts"];

interface Bundled {
  readonly evaluate: typeof evaluate;
  readonly PLANTED: readonly AnyToolContract[];
}

/** A text of a source file, and another text in its place. */
export interface SourceChange {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Changes the sources, tests a planted contract in this process, and returns the failed modes. */
export async function failedWithChange(
  name: string,
  lock: ContractLock,
  change: SourceChange,
): Promise<readonly string[]> {
  const { evaluate: evaluateChanged, PLANTED } = await bundleWith(change);
  const contract = PLANTED.find((known) => known.name === name);
  if (!contract) throw new Error(`no contract ${name}`);
  const { cells } = await evaluateChanged(contract, {
    contracts: PLANTED,
    lock: ok(lock),
    exchanges: new Map(),
  });
  return cells.filter(({ verdict }) => verdict === "fail").map(({ mode }) => mode.id);
}

/** Files that the bundler asks this process for, which is slow: the changed one and the located. */
const filesOf = (changed: string): RegExp =>
  new RegExp(`/(?:${[changed, ...LOCATED].join("|").replaceAll(".", "\\.")})$`);

async function bundleWith({ file, from, to }: SourceChange): Promise<Bundled> {
  const path = join(ROOT, file);
  const before = readFileSync(path, "utf8");
  if (!before.includes(from)) throw new Error(`${file} does not contain ${from}`);
  const changed = before.replace(from, () => to);
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(join(CACHE, "changed-"));
  try {
    const outfile = join(scratch, "bundle.mjs");
    let isChanged = false;
    await build({
      stdin: { contents: SOURCES, resolveDir: ROOT, loader: "ts" },
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "esnext",
      packages: "external",
      plugins: [
        {
          name: "change",
          setup: (bundler) =>
            bundler.onLoad({ filter: filesOf(file) }, (loaded) => {
              isChanged ||= loaded.path === path;
              const text = loaded.path === path ? changed : readFileSync(loaded.path, "utf8");
              const directory = JSON.stringify(dirname(loaded.path));
              return { contents: text.replaceAll("import.meta.dirname", directory), loader: "ts" };
            }),
        },
      ],
    });
    if (!isChanged) throw new Error(`${file} is not part of the tests`);
    return (await import(outfile)) as Bundled;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
