import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { impuritiesOf } from "../shared/tool-purity.ts";

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
    ["env", 'import { env } from "cloudflare:workers"; env.API_KEY'],
    ["env", "export const run = (env: { KEY: string }) => env.KEY"],
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
    ["import()", 'import("node:fs")'],
    ["require", 'require("node:fs")'],
    ["process", "export const holder = { process }"],
  ])("%s in %s", (name, source) => {
    expect(impuritiesOf(source)).toEqual([name]);
  });
});

test("what is no global passes, whatever it is called", () => {
  const source = `
    // Not even process.env or fetch() in a comment.
    export const words = { fetch: 1, env: "globalThis.fetch()", Date: "Date.now()" };
    export const read = (caps: { clock: { nowMs(): number }, http: { fetch(url: string): void } }) => {
      caps.http.fetch("x");
      const when: Date = new Date(caps.clock.nowMs());
      return [when, Date.UTC(2026, 0), Date.parse("2026"), Math.max(1, 2), words.env];
    };`;
  expect(impuritiesOf(source)).toEqual([]);
});
