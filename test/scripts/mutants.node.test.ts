import { readFileSync } from "node:fs";
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
