import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand, startCommand } from "../shared/command-process.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Below the repository, so that valibot is that of the repository. */
const FOLDER = join(ROOT, "dist/purity-test");
const PROJECT = join(FOLDER, "desk");

const PATHS = {
  "interlock-edge": [join(ROOT, "src/exports/index.ts")],
  "interlock-edge/tools": [join(ROOT, "src/exports/tools.ts")],
  "interlock-edge/wires/*": [join(ROOT, "src/wire/*/wire.ts")],
};

function write(file: string, text: string | readonly string[]): void {
  const path = join(PROJECT, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof text === "string" ? text : text.join("\n"));
}

async function run(command: "build" | "check") {
  // A check imports what a build wrote, and Node keeps that as long as a process lives.
  const start = command === "check" ? startCommand : runCommand;
  const { exitCode: status, all } = await start([command], PROJECT);
  return { status, all };
}

/** Lines of a helper, each with the name that the commands refuse in it. */
const PLANTS: readonly (readonly [name: string, line: string])[] = [
  ["cloudflare:sockets", 'import { connect } from "cloudflare:sockets";'],
  ["cloudflare:workers", 'import { env } from "cloudflare:workers";'],
  ["node:https", 'import { request } from "node:https";'],
  ["node:fs", 'export { readFileSync } from "node:fs";'],
  ["node:net", 'export const later = () => import("node:net");'],
  ["import()", "export const any = (name: string) => import(name);"],
  ["fetch", 'export const a = () => fetch("https://evil.example", connect(env, request));'],
  [
    "globalThis",
    'export const b = () => (globalThis as any)["fet" + "ch"]("https://evil.example");',
  ],
  ["self", "export const c = () => self.fetch;"],
  ["WebSocket", 'export const d = () => new WebSocket("wss://evil.example");'],
  ["EventSource", 'export const e = () => new EventSource("https://evil.example");'],
  ["XMLHttpRequest", "export const f = () => new XMLHttpRequest();"],
  ["process", "export const g = () => process.env.API_KEY;"],
  ["setTimeout", "export const h = () => setTimeout(() => {}, 1);"],
  ["eval", 'export const i = () => eval("1");'],
  ["Function", 'export const j = () => new Function("return 1");'],
  ["caches", "export const k = () => caches.open;"],
  ["crypto", "export const l = () => crypto.randomUUID();"],
  ["Date", "export const m = () => Date.now();"],
  ["Math", "export const n = () => Math.random();"],
  ["constructor", 'export const p = () => (() => {}).constructor("return fetch")();'],
  ["constructor", "export const { constructor: q } = () => {};"],
  ["AbortSignal", "export const r = () => AbortSignal.timeout(1);"],
  ["fetch", "import t = globalThis.fetch; export const u = () => t;"],
  [
    "data:text/javascript,fetch()",
    'export const s = () => import("data:text/javascript,fetch()");',
  ],
  ["Map", "export const o = () => (Map.prototype.get = () => 1);"],
];
/** The same names, where they are no globals, are of types, or hold nothing of the world. */
const INNOCENT = [
  'import type { Socket } from "node:net";',
  'import { Server } from "node:http";',
  "export const a = (fetch: (url: string) => Socket, server?: Server) => fetch(String(server));",
  "export const b = (env: { process: string }) => env.process;",
  "export const c = (at: number) => new Date(at).toISOString() + Math.max(1, at);",
  "export type Send = typeof globalThis.fetch;",
  "export const d = (a: object, b: AbortSignal) => [a.constructor.name, AbortSignal.any([b])];",
  "export const e = (a: object, b: object) => a.constructor === b.constructor;",
];

const TOOL = "src/tools/office/shout.ts";
const toolWith = (execute: string): readonly string[] => [
  'import * as v from "valibot";',
  'import { ok } from "interlock-edge/tools";',
  'import { makeTool } from "../make-tool.ts";',
  'import * as near from "../near.ts";',
  "export const shout = makeTool({",
  '  name: "office__shout", version: "1.0.0", description: "Shouts.",',
  "  input: v.strictObject({}), output: v.strictObject({}), capabilities: [],",
  '  sideEffectClass: "READ_ONLY", effect: "read_only", redaction: { args: [], output: [] },',
  `  execute: ${execute},`,
  "});",
];

/** Plants lines in a tool, which a function of the project makes, and two imports away from it. */
function plant(execute: string, helper: readonly string[]): void {
  write(TOOL, toolWith(execute));
  write("src/far.ts", helper);
}

beforeAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  expect(await runCommand(["new", "desk"], FOLDER)).toMatchObject({ exitCode: 0 });
  write("tsconfig.json", JSON.stringify({ compilerOptions: { paths: PATHS } }));
  // A wrapper defines the tools, so the file of a tool does not name defineTool.
  write("src/tools/make-tool.ts", [
    'import { defineTool } from "interlock-edge/tools";',
    "export const makeTool: typeof defineTool = (definition) => defineTool(definition);",
  ]);
  write("src/tools/near.ts", 'export * from "../far.ts";');
  write(
    "src/tools/index.ts",
    'import { shout } from "./office/shout.ts";\nexport const TOOLS = [shout];',
  );
});
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

const HARMLESS = "() => ok({ near } && {})";

describe("interlock build and interlock check", () => {
  test("refuse each planted bypass, two imports away from a tool, with its line", async () => {
    const lines = PLANTS.map(([, line]) => line);
    plant("() => (void near, void fetch(''), ok({}))", lines);
    for (const command of ["build", "check"] as const) {
      const { status, all } = await run(command);
      expect(status).toBe(1);
      const found = [
        ...all.matchAll(/src\/far\.ts:(\d+):\d+: (\S+) reaches|src\/far\.ts:(\d+):\d+: (\S+) /g),
      ];
      // A check repeats why the last build failed.
      const named = new Map(
        found.map(([, line, name, other, changed]) => [Number(line ?? other), name ?? changed]),
      );
      expect(named).toEqual(new Map(PLANTS.map(([name], index) => [index + 1, name])));
      expect(all).toContain(
        `${TOOL}:9:35: fetch reaches past the capabilities; use the capability http`,
      );
    }
  });

  test("let names of other things pass, and modules that no tool imports", async () => {
    plant(HARMLESS, INNOCENT);
    write("src/unused.ts", "export const ping = () => fetch('https://a.example');");
    expect(await run("build")).toEqual({ status: 0, all: "" });
    expect((await run("check")).all).not.toContain("reaches");
  });

  test("refuse a package that opens connections, and only report one that mentions fetch", async () => {
    const packaged = (name: string, text: string): void => {
      write(
        `node_modules/${name}/package.json`,
        JSON.stringify({ name, main: "index.js", type: "module" }),
      );
      write(`node_modules/${name}/index.js`, text);
    };
    packaged("chatty", "export const ask = (send = globalThis.fetch ?? fetch) => send;\n");
    plant(HARMLESS, ['export { ask } from "chatty";']);
    expect(await run("build")).toEqual({ status: 0, all: "" });
    expect((await run("check")).all).toMatch(
      /warning node_modules\/chatty\/index\.js:1:\d+: a package of a tool mentions .*fetch/,
    );
    packaged("chatty", "export const ask = () => globalThis.fetch;\n");
    expect((await run("check")).all).toContain("a package of a tool mentions globalThis.fetch");
    for (const [text, column] of [
      ['import { connect } from "node:net";\nexport const dial = () => connect(1);', 1],
      ['export const dial = () => require("node:net").connect(1);', 27],
    ] as const) {
      packaged("dialer", text);
      plant(HARMLESS, ['export { dial } from "dialer";']);
      const { status, all } = await run("build");
      expect([status, all]).toEqual([
        1,
        expect.stringContaining(`node_modules/dialer/index.js:1:${column}: node:net`),
      ]);
    }
  });
});
