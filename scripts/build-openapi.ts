import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { PACKAGE_FOLDER } from "../cli/project/folders.ts";
import { dateToBegin, isFresh } from "./fresh.ts";

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
  if (existsSync(TYPES) && isFresh(DOCUMENT, SOURCES)) return;
  mkdirSync(TARGET, { recursive: true });
  // Loaded only here, because it takes most of the time of a build that finds nothing new.
  const { writeClientTypes } = await import("./openapi/client-types.ts");
  const { writeDocument } = await import("./openapi/document.ts");
  const { writePage } = await import("./openapi/reference-page.ts");
  const document = await writeDocument();
  const page = writePage(document);
  mkdirSync(dirname(TYPES), { recursive: true });
  writeFileSync(TYPES, writeClientTypes(document));
  writeFileSync(join(TARGET, "docs.html"), page);
  copyFileSync(join(PACKAGE_FOLDER, "scripts/openapi/docs.css"), join(TARGET, "docs.css"));
  // Last: this file tells that all are there.
  const text = JSON.stringify(document);
  writeFileSync(DOCUMENT, text);
  dateToBegin(DOCUMENT);
  console.log(`API: openapi.json ${kibOf(text)} KiB gz, docs.html ${kibOf(page)} KiB gz`);
}

function kibOf(text: string): string {
  return (gzipSync(text, { level: 9 }).byteLength / 1024).toFixed(1);
}
