import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { PACKAGE_FOLDER } from "../cli/project/folders.ts";
import { writeClientTypes } from "./openapi/client-types.ts";
import { writeDocument } from "./openapi/document.ts";
import { writePage } from "./openapi/reference-page.ts";

const TARGET = join(PACKAGE_FOLDER, "dist/public");
const DOCUMENT = join(TARGET, "openapi.json");
/** The types of the client, which imports them from there. */
const TYPES = join(PACKAGE_FOLDER, ".interlock/api.ts");
/** All that the document is made from. */
const SOURCES = ["src", "scripts/openapi", "scripts/build-openapi.ts", "package.json"];

await main();

/**
 * Writes the document of the HTTP API and its page among the files that a deployment serves, and
 * the types of the client.
 * Contract: the same sources give the same bytes, and are read only when one of them is newer.
 */
async function main(): Promise<void> {
  if ([DOCUMENT, TYPES].every(existsSync) && newestOf(SOURCES) < statSync(DOCUMENT).mtimeMs) return;
  mkdirSync(TARGET, { recursive: true });
  const document = await writeDocument();
  const page = writePage(document);
  mkdirSync(dirname(TYPES), { recursive: true });
  writeFileSync(TYPES, writeClientTypes(document));
  writeFileSync(join(TARGET, "docs.html"), page);
  copyFileSync(join(PACKAGE_FOLDER, "scripts/openapi/docs.css"), join(TARGET, "docs.css"));
  // Last: this file tells that all are there.
  const text = JSON.stringify(document);
  writeFileSync(DOCUMENT, text);
  console.log(`API: openapi.json ${kibOf(text)} KiB gz, docs.html ${kibOf(page)} KiB gz`);
}

function newestOf(sources: readonly string[]): number {
  const times = sources.flatMap((source) => {
    const path = join(PACKAGE_FOLDER, source);
    if (!statSync(path).isDirectory()) return [statSync(path).mtimeMs];
    const names = readdirSync(path, { recursive: true, encoding: "utf8" });
    return [path, ...names.map((name) => join(path, name))].map((file) => statSync(file).mtimeMs);
  });
  return Math.max(...times);
}

function kibOf(text: string): string {
  return (gzipSync(text, { level: 9 }).byteLength / 1024).toFixed(1);
}
