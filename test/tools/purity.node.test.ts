import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { inspectModule } from "../../cli/purity/inspect-module.ts";
import { refusalOfImport } from "../../cli/purity/refusals.ts";

/** What a module uses past the capabilities, each once. */
function impuritiesOf(source: string): readonly string[] {
  const { imports, impurities } = inspectModule("tool.ts", source);
  const imported = imports.map(({ specifier }) => specifier);
  const refused = imported.filter((specifier) => refusalOfImport(specifier) !== undefined);
  return [...new Set([...refused, ...impurities.map(({ name }) => name)])];
}

const files = globSync(["src/core-tools/**/*.ts", "apps/*/tools/**/*.ts"]);

test("there are tools to look at", () => {
  expect(files.length).toBeGreaterThan(3);
});

test.each(files)("%s reaches the world through its capabilities alone", (file) => {
  expect(impuritiesOf(readFileSync(file, "utf8"))).toEqual([]);
});

describe("a planted violation is found", () => {
  test.each([
    ["fetch", 'await fetch("https://example.com")'],
    ["fetch", "const send = fetch"],
    ["globalThis", 'await globalThis.fetch("https://example.com")'],
    ["globalThis", 'globalThis["fet" + "ch"]'],
    ["self", "self.fetch"],
    ["process", "process.env.API_KEY"],
    ["cloudflare:workers", 'import { env } from "cloudflare:workers"; env.API_KEY'],
    ["cloudflare:sockets", 'import { connect } from "cloudflare:sockets"; connect()'],
    ["env", "env.KEY"],
    ["node:http", 'import "node:http"'],
    ["node:http", 'export { request } from "node:http"'],
    ["fs", 'import * as fs from "fs"; fs.readFileSync()'],
    ["node:crypto", 'import { randomUUID } from "node:crypto"; randomUUID()'],
    ["crypto", 'crypto.subtle.importKey("raw", key)'],
    ["crypto", "crypto.randomUUID()"],
    ["crypto", "const { subtle } = crypto"],
    ["caches", "caches.default"],
    ["Date", "Date.now()"],
    ["Date", "const { now } = Date"],
    ["Date", 'Date["now"]()'],
    ["Date", "new Date()"],
    ["Date", "new Date"],
    ["Date", "Date()"],
    ["Math", "Math.random()"],
    ["Math", "const { random } = Math"],
    ["Math", "Math['random']()"],
    ["performance", "performance.now()"],
    ["setTimeout", "setTimeout(() => {}, 1)"],
    ["WebSocket", 'new WebSocket("wss://example.com")'],
    ["Function", 'new Function("return 1")'],
    ["eval", 'eval("1")'],
    ["console", "console.log(args)"],
    ["import.meta", "import.meta.env"],
    ["node:fs", 'import("node:fs")'],
    ["import()", "export const load = (name: string) => import(name)"],
    ["import()", "import(`./${name}.ts`)"],
    ["require", "require(name)"],
    ["process", "export const holder = { process }"],
    ["fetch", "export const holder = { send: fetch }"],
    ["fetch", "const send = (fetch as unknown as () => void)!; send()"],
    ["fetch", "{ const fetch = 1; } fetch()"],
    ["fetch", "function f(send = fetch) { var fetch2 }"],
    ["fetch", 'import type { fetch } from "./x.ts"; fetch()'],
    ["fetch", "class A { fetch() { return fetch() } }"],
    ["fetch", "enum Name { A = fetch }"],
    ["globalThis", "const { fetch } = globalThis"],
    ["window", 'window["fetch"]'],
    ["Date", "[1].map(Date.now)"],
    ["Date", "Date[name]()"],
    ["Math", "(Math as { random(): number }).random()"],
    ["Math", "Math?.random()"],
    ["crypto", "crypto.subtle.generateKey()"],
    ["Temporal", "Temporal.Now.instant()"],
    ["WeakMap", "WeakMap.prototype.get = () => 1"],
    ["Array", "Object.defineProperty(Array.prototype, 'map', {})"],
    ["JSON", "delete JSON.parse"],
  ])("%s in %s", (name, source) => {
    expect(impuritiesOf(source)).toEqual([name]);
  });
});

describe("what is no global passes, whatever it is called", () => {
  test.each([
    "// Not even process.env or fetch() in a comment.",
    'export const words = { fetch: 1, env: "globalThis.fetch()", Date: "Date.now()" }; words.env',
    "export const read = (caps: { http: { fetch(url: string): void } }) => caps.http.fetch('x')",
    "const when: Date = new Date(clock.nowMs()); Date.UTC(2026, 0); Date.parse('2026')",
    "export const isDay = (day: unknown) => day instanceof Date; v.instance(Date)",
    "Math.max(1, 2); Math.PI; Math['floor'](1.5)",
    "export const run = (env: { KEY: string }) => env.KEY",
    "export const run = ({ fetch, ...process }: Ports) => fetch(process)",
    "export const run = ([fetch = 1]: number[]) => fetch",
    "function fetch() { return 1 } export const a = fetch()",
    "export function run() { if (true) { var process = 1 } return process }",
    "try { run() } catch (self) { run(self) }",
    "for (const event of events) { const window = event; run(window) }",
    "switch (a) { case 1: { break } default: const scheduler = 1; run(scheduler) }",
    "class Request {} new Request()",
    "const named = function fetch(): unknown { return fetch }",
    'import { fetch } from "./ports.ts"; fetch()',
    'import { performance } from "../gameplan.ts"; performance.id',
    "class Desk { constructor(private readonly env: string) { env.length } }",
    "type Send = typeof fetch; interface A { fetch: typeof globalThis.fetch }",
    "const isHere = typeof process === 'undefined'",
    "fetch: for (;;) { break fetch }",
    "crypto.subtle.digest('SHA-256', bytes)",
    'import { format } from "node:util"; import { join } from "path"',
    "const mine = {}; mine.prototype = 1; Object.assign(mine, Array.prototype)",
    'import { Socket } from "node:net"; const a: Socket | null = null; export default a',
    "enum Env { process = 1 } Env.process",
    "new URL('https://a.example').searchParams.set('a', '1'); structuredClone({})",
  ])("%s", (source) => {
    expect(impuritiesOf(source)).toEqual([]);
  });
});

test("what is only declared hides no global", () => {
  expect(impuritiesOf("declare const fetch: () => void; fetch()")).toEqual(["fetch"]);
});

test("a finding has its line and column", () => {
  const [found] = inspectModule("a.ts", "const a = 1;\n  void fetch(a);\n").impurities;
  expect(found).toMatchObject({ name: "fetch", line: 2, column: 8 });
});
