import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TOOLS } from "../../src/tools/index.ts";
import { readCompiled, type CompiledContracts } from "../../src/contracts/catalog/compiled.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { runCommand } from "../shared/command-process.ts";
import { copyRepository } from "../shared/copied-repository.ts";

const ROOT = join(import.meta.dirname, "../..");
const WRANGLER = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
const TOOL = "src/core-tools/calculate.ts";
const COMPILED = ".interlock/contracts.js";

/** A copy of what is deployed, so that tools can be changed. */
let copy: string;

beforeAll(async () => {
  copy = copyRepository("cli", "scripts");
  expect((await build()).status).toBe(0);
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

function run(command: string, ...args: string[]): Ended {
  const quiet = { CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_SEND_METRICS: "false" };
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: copy,
    encoding: "utf8",
    env: { ...process.env, ...quiet },
  });
  return { status, output: `${stdout}${stderr}` };
}

async function build(): Promise<Ended> {
  const { exitCode, all } = await runCommand(["build"], copy);
  return { status: exitCode, output: all };
}
const deploy = (): Ended =>
  run(process.execPath, WRANGLER, "deploy", "--dry-run", "--outdir", "bundle");

async function compiled(): Promise<CompiledContracts> {
  const text = readFileSync(join(copy, COMPILED), "utf8");
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  return (module as { readonly COMPILED: CompiledContracts }).COMPILED;
}

function edit(from: string, to: string): void {
  const text = readFileSync(join(copy, TOOL), "utf8");
  expect(text).toContain(from);
  writeFileSync(
    join(copy, TOOL),
    text.replace(from, () => to),
  );
}

test("the build writes what registration derives, the same bytes every time", async () => {
  const text = readFileSync(join(copy, COMPILED), "utf8");
  expect(JSON.stringify(readCompiled(TOOLS, await compiled()))).toBe(
    JSON.stringify(registerContracts(TOOLS)),
  );
  expect((await build()).status).toBe(0);
  expect(readFileSync(join(copy, COMPILED), "utf8")).toBe(text);
});

test("a deployment compiles the present contracts, not those of an earlier build", async () => {
  edit("v.maxLength(256)", "v.maxLength(99)");
  const { status, output } = deploy();
  expect([status, output]).toEqual([0, expect.any(String)]);
  const bundle = readFileSync(join(copy, "bundle/index.js"), "utf8");
  const maxLengths = new Set(
    [...bundle.matchAll(/\bmaxLength:\s*(\d+)/g)].map(([, chars]) => Number(chars)),
  );
  expect(maxLengths).toContain(99);
});

test("an invalid contract is neither built nor deployed", async () => {
  rmSync(join(copy, "bundle"), { recursive: true, force: true });
  edit('output: ["expression", "result"]', 'output: ["expression", "results"]');
  const reason =
    'contracts: Tool "core__calculate": redaction.output names no field: results; see docs/tools-authoring.md';
  expect(await build()).toEqual({ status: 1, output: expect.stringContaining(reason) });
  expect(await compiled()).toEqual({ ok: false, failure: reason });
  const { status, output } = deploy();
  expect([status, output]).toEqual([1, expect.stringContaining(reason)]);
  expect(existsSync(join(copy, "bundle/index.js"))).toBe(false);
});
