import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AREAS } from "../../scripts/mutants/areas.ts";

describe.each(Object.entries(AREAS))("the mutants of %s", (_, mutants) => {
  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    "find what they take away: %s",
    (_name, { file, from, to, test: { file: testFile } }) => {
      expect(readFileSync(file, "utf8").split(from)).toHaveLength(2);
      expect(to).not.toBe(from);
      expect(readFileSync(testFile, "utf8")).toMatch(/\b(?:test|it)(?:\.each)?[(<]/);
    },
  );
});

test("no comment of a test promises a mutant that the list does not try", () => {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join("test", path));
  expect(files.length).toBeGreaterThan(100);
  const promising = files.filter((file) => /\/\/ Mutants?:/.test(readFileSync(file, "utf8")));
  expect(promising).toEqual([]);
});
