import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { rowsOf } from "./table-rows.ts";

/** Every test that the table names: its file, and a part of its name. */
const NAMED = /`(test\/[^`]+)`: ([^;|]+)/g;

test("the twenty failure modes of docs/failure-modes.md name tests that exist", () => {
  const rows = rowsOf("docs/failure-modes.md", "failure +[|] what Interlock does");
  expect(rows).toHaveLength(20);
  for (const row of rows) {
    const named = [...row.matchAll(NAMED)];
    expect(named.length, row).toBeGreaterThan(0);
    for (const [, file = "", title = ""] of named) {
      expect(readFileSync(file, "utf8"), file).toContain(title.trim());
    }
  }
});
