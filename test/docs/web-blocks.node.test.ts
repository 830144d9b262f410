import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { unstable_readConfig } from "wrangler";
import {
  blocksIn,
  findCodeBlocks,
  nameOf,
  reasonNotToRun,
  ROOT,
  staleReasons,
} from "./code-blocks.ts";

/** Languages whose blocks a test of this folder runs, compiles or reads. */
const HELD: ReadonlySet<string> = new Set(["ts", "json", "sh", "js", "css", "html", "toml"]);

/** The files that docs/embedding.md lets its reader write. */
const READERS_FILES = new Set(["/chat.js", "/cards.js", "/logo.svg", "/shop.css"]);

test("every code block of the documents is held by a test, or is listed with its reason", () => {
  const loose = findCodeBlocks().filter(
    (block) => !HELD.has(block.language) && reasonNotToRun(block) === undefined,
  );
  expect(loose.map(nameOf)).toEqual([]);
});

test("every block that is listed with a reason is in the documents", () => {
  expect(staleReasons()).toEqual([]);
});

test.each(blocksIn("js", "css").map((block) => [nameOf(block), block] as const))(
  "%s can be read",
  async (_name, { text, language }) => {
    const { warnings } = await transform(text, { loader: language === "js" ? "js" : "css" });
    expect(warnings).toEqual([]);
  },
);

test.each(blocksIn("js", "css", "html").map((block) => [nameOf(block), block] as const))(
  "the elements, attributes and scripts of %s exist",
  (_name, { text }) => {
    for (const [element] of text.matchAll(/(?<!--)\binterlock-[a-z]+\b/g)) {
      const [file = "none"] = globSync(`{src/widget,apps/*/page}/${element}.ts`, { cwd: ROOT });
      const source = readFileSync(join(ROOT, file), "utf8");
      expect(source).toMatch(
        new RegExp(`(?:customElements\\.define|defineElement)\\("${element}"`),
      );
      const [, attributes = ""] = new RegExp(`<${element} ([^>]*)>`).exec(text) ?? [];
      for (const [, name] of attributes.matchAll(/([\w-]+)=/g))
        expect(source).toContain(`"${name}"`);
    }
    for (const [, script = ""] of text.matchAll(/src="(?:https:\/\/YOUR-WORKER)?(\/[^"]+)"/g)) {
      const isServed = existsSync(join(ROOT, ".interlock/public", script));
      expect([script, isServed || READERS_FILES.has(script)]).toEqual([script, true]);
    }
  },
);

test.each(blocksIn("toml").map((block) => [nameOf(block), block] as const))(
  "wrangler reads %s as a part of wrangler.toml",
  (_name, { text }) => {
    const folder = mkdtempSync(join(tmpdir(), "interlock-docs-"));
    try {
      const config = join(folder, "wrangler.toml");
      // The variables of a block stand among those of the project.
      const [vars = "[vars]\n"] = /^\[vars\]\n(?:\w+ = .*\n)*/m.exec(text) ?? [];
      const own = readFileSync(join(ROOT, "wrangler.toml"), "utf8").replace("[vars]\n", vars);
      // This project has some tables itself.
      const project = text.split("\n\n").reduce((rest, table) => rest.replace(table, ""), own);
      writeFileSync(config, `${project}\n${text.replace(vars, "")}`);
      const [, env] = /^\[env\.(\w+)/m.exec(text) ?? [];
      const read = unstable_readConfig(
        { config, ...(env !== undefined && { env }) },
        { hideWarnings: true },
      );
      const [, name = ""] = /^(\w+) = "/m.exec(text) ?? [];
      const { bindings } = read.durable_objects;
      const known = [
        ...Object.keys(read.vars),
        ...bindings.map(({ name: bound }: { readonly name: string }) => bound),
      ];
      expect(known).toContain(/^name = "(\w+)"/m.exec(text)?.[1] ?? name);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
