import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { approvalsPage, chatPage, gameplanPage, runsPage } from "../../src/http/pages/pages.ts";

const PUBLIC = join(import.meta.dirname, "../../dist/public");

/** Names what a file of a page loads: by a tag, or by an import, at once or later. */
function loadedBy(file: string): readonly string[] {
  const text = readFileSync(join(PUBLIC, file), "utf8");
  const names = file.endsWith(".html")
    ? text.matchAll(/(?:src|href)="\/([\w-]+\.(?:js|css))"/g)
    : text.matchAll(/["'`]\.\/([\w-]+\.js)["'`]/g);
  return [...names].map(([, name = ""]) => name);
}

/** Names all files that a page loads, those of its files too. */
function filesOf(page: string): ReadonlySet<string> {
  const found = new Set(loadedBy(page));
  for (const file of found) {
    if (file.endsWith(".js")) for (const name of loadedBy(file)) found.add(name);
  }
  return found;
}

test.each([
  ["index.html", chatPage],
  ["approvals.html", approvalsPage],
  ["runs.html", runsPage],
  ["gameplan.html", gameplanPage],
])("a deployment that names one page alone serves all that %s loads", (page, { paths }) => {
  const files = filesOf(page);
  expect(files.size).toBeGreaterThan(1);
  expect([...files].filter((file) => !paths.includes(`/${file}`))).toEqual([]);
});
