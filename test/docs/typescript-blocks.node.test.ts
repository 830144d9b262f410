import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseExchanges } from "../../cli/contracts/test/exchange-files.ts";
import { evaluate } from "../../cli/contracts/test/evaluate.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { publishContract } from "../../src/contracts/catalog/published-contract.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { blocksIn, nameOf, pinAgUi, ROOT, type CodeBlock } from "./code-blocks.ts";
import { toModule } from "./fragments.ts";
import { typeOf } from "./typed-json.ts";

const TYPESCRIPT = blocksIn("ts");
const JSON_FILES = blocksIn("json").filter(({ path }) => path !== undefined);
const TYPED_JSON = blocksIn("json").filter((block) => typeOf(block) !== undefined);
const TOOLS = TYPESCRIPT.filter(
  ({ text, path }) => path !== undefined && /^export const \w+ = defineTool\(/m.test(text),
);
const TESTS = TYPESCRIPT.filter(({ path }) => path?.endsWith(".test.ts"));

// In the repository, so that packages are found.
mkdirSync(join(ROOT, ".interlock"), { recursive: true });
const scratch = mkdtempSync(join(ROOT, ".interlock/docs-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The file of each block. Files of one document stand in one folder, with their own paths. */
const files = new Map<CodeBlock, string>();
for (const block of TYPESCRIPT) write(block, toModule(block), `block-${block.line}.ts`);
for (const block of JSON_FILES) write(block, block.text, "");
for (const { file, path } of TYPESCRIPT) if (path === "src/index.ts") surround(file);
for (const block of TYPED_JSON) write(block, typed(block), `block-${block.line}.ts`);

/** What the entry of a deployment imports: the tools of its template, and what the build makes. */
const BESIDE_AN_ENTRY: Readonly<Record<string, string>> = {
  "src/tools/index.ts": 'export { CORE_TOOLS as TOOLS } from "interlock-edge/tools";\n',
  ".interlock/contracts.d.ts": "export declare const COMPILED: unknown;\n",
};
for (const { file } of TYPESCRIPT.filter(({ path }) => path === "src/index.ts")) {
  for (const [path, text] of Object.entries(BESIDE_AN_ENTRY)) {
    const target = join(scratch, basename(file, ".md"), path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, resolveImports(text));
  }
}

function write(block: CodeBlock, text: string, name: string): void {
  const file = join(scratch, basename(block.file, ".md"), block.path ?? name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, resolveImports(text));
  files.set(block, file);
}

/** Adds what an entry imports, unless its document shows it: the built contracts and the tools. */
function surround(document: string): void {
  const folder = join(scratch, basename(document, ".md"));
  const missing = {
    ".interlock/contracts.d.ts": "export declare const COMPILED: unknown;\n",
    "src/tools/index.ts": `export { CORE_TOOLS as TOOLS } from "${ROOT}/src/core-tools/pack.ts";\n`,
  };
  for (const [path, text] of Object.entries(missing)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    if (!existsSync(file)) writeFileSync(file, text);
  }
}

/** What authors import stands in this repository. */
function resolveImports(text: string): string {
  return pinAgUi(text)
    .replaceAll(/(?<=from ")(?:\.\.\/){2}/g, `${ROOT}/src/`)
    .replaceAll(/(?<=from ")\.\.\/(?=\.interlock\/|apps\/)/g, `${ROOT}/`)
    .replaceAll('from "./tools/index.ts"', `from "${ROOT}/src/tools/index.ts"`)
    .replaceAll(/(?<=from ")interlock-edge(\/[\w/-]+)?(?=")/g, (name, path: string = "") => {
      const target = exportsOf()[`.${path}`]?.default ?? `missing:${name}`;
      return target.replace("./dist/package/", `${ROOT}/`).replace(/\.js$/, ".ts");
    });
}

function exportsOf(): Readonly<Record<string, { readonly default: string } | undefined>> {
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).exports;
}

/** An id of the product is a text in a document. */
function typed(block: CodeBlock): string {
  const type = typeOf(block)?.replaceAll("ROOT", ROOT);
  return `
type Plain<T> = T extends string ? (keyof T extends keyof string ? T : string)
  : T extends object ? (string extends keyof T ? T : { readonly [Key in keyof T]: Plain<T[Key]> })
  : T;
export const block: Plain<${type}> = ${block.text};`;
}

test("every TypeScript block and every shape that the product sends compiles", () => {
  const types = ["@cloudflare/workers-types", "node"];
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, types };
  const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: ["."] };
  writeFileSync(join(scratch, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", scratch];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  let found = stdout;
  for (const [block, file] of files) {
    found = found.replaceAll(file.slice(ROOT.length + 1), nameOf(block));
  }
  expect(found).toBe("");
  expect(status).toBe(0);
});

test.each(TOOLS.map((block) => [nameOf(block), block] as const))(
  "the tool of %s registers, and passes the test of its contract if it has what that needs",
  async (_name, block) => {
    const module = (await import(files.get(block) ?? "")) as Readonly<Record<string, unknown>>;
    const contracts = Object.values(module) as AnyToolContract[];
    const published = await Promise.all(registerContracts(contracts).map(publishContract));
    const lock = new Map(
      published.map(({ contract, interlock }) => {
        const { name, version } = contract.identity;
        return [`${name}@${version}`, { contract, interlock }];
      }),
    );
    const exchanges = exchangesIn(block.file);
    for (const contract of contracts) {
      // A guide that plays the service in its own tests shows no sample exchanges.
      if (contract.capabilities.includes("http") && !exchanges.has(contract.name)) continue;
      const { cells } = await evaluate(contract, { contracts, lock: ok(lock), exchanges });
      expect(cells.filter(({ verdict }) => verdict === "fail")).toEqual([]);
    }
  },
);

/** The sample exchanges that a document shows beside its tools. */
function exchangesIn(file: string): Parameters<typeof evaluate>[1]["exchanges"] {
  const parsed = JSON_FILES.filter(
    (block) => block.file === file && block.path?.endsWith(".exchanges.json"),
  ).map(({ text }) => parseExchanges(text));
  return new Map(parsed.flatMap((one) => (one.ok ? [[one.value.tool, one.value.exchanges]] : [])));
}

for (const block of TESTS) {
  describe(`the tests of ${nameOf(block)}`, async () => {
    await import(files.get(block) ?? "");
  });
}
