import { createRequire } from "node:module";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseSync } from "@swc/core";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { bundleEntry } from "../scripts/bundle-entry.ts";

/**
 * What made the start of an isolate slow, see docs/performance.md. `npm run size` measures the
 * start; these tests find its two most expensive mistakes on a busy machine too.
 */
describe("the start of the Worker", () => {
  let code = "";
  beforeAll(async () => {
    code = await bundleEntry(resolve(import.meta.dirname, "../src/index.ts"), { minify: false });
  });

  test("parses no regular expression with a Unicode property", () => {
    expect(unicodeLiteralsIn("const a = /\\p{L}/u; const b = () => /[^\\P{M}]/v;")).toHaveLength(2);
    expect(unicodeLiteralsIn(code)).toEqual([]);
  });

  test("reads a script of ASCII: one other character makes V8 hold all of it at double width", () => {
    expect(code).not.toMatch(/[\u0080-\uffff]/);
  });

  test("makes no error at the top level of a module: its stack costs a second parse", () => {
    expect(errorsAtLoadOf("export const a = Object.freeze(new DOMException('a'));")).toBe(1);
    expect(errorsAtLoadOf("try { throw new Error('a') } catch {}")).toBe(1);
    expect(errorsAtLoadOf(code)).toBe(0);
  });
});

function unicodeLiteralsIn(source: string): readonly string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if ("type" in value && value.type === "RegExpLiteral" && "pattern" in value) {
      if (/\\p\{/i.test(String(value.pattern))) found.push(String(value.pattern));
    }
    for (const part of Object.values(value)) visit(part);
  };
  visit(parseSync(source, { syntax: "ecmascript", target: "es2024" }));
  return found;
}

/**
 * Loads a module in Node and counts the errors that it makes meanwhile. Nothing else runs, because
 * `require` loads a module at once.
 */
function errorsAtLoadOf(source: string): number {
  const directory = mkdtempSync(join(tmpdir(), "interlock-load-"));
  const file = join(directory, "worker.mjs");
  const platform = "data:text/javascript,export class DurableObject {}; export const waitUntil = 0";
  writeFileSync(file, source.replaceAll('"cloudflare:workers"', JSON.stringify(platform)));
  let made = 0;
  const counting = <Type extends Function>(type: Type): Type =>
    new Proxy(type, {
      construct(target, given, newTarget) {
        made++;
        return Reflect.construct(target, given, newTarget) as object;
      },
    });
  vi.stubGlobal("Error", counting(Error));
  vi.stubGlobal("DOMException", counting(DOMException));
  try {
    createRequire(import.meta.url)(file);
  } finally {
    vi.unstubAllGlobals();
    rmSync(directory, { recursive: true });
  }
  return made;
}
