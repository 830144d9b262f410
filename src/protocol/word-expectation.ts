/**
 * Words what a schema expected, for people and models: valibot says `>=2`, `never` or `"a" | "b"`.
 * Contract: pure; the text comes from the schema alone, never from what was sent.
 */
export function wordExpectation(expected: string | null): string {
  if (expected === null) return "a valid value";
  if (expected === "never") return "no such field";
  const bound = /^(>=|<=|>|<|!)(.*)$/.exec(expected);
  return bound ? `${BOUNDS[bound[1] as keyof typeof BOUNDS]} ${bound[2]}` : expected;
}

const BOUNDS = {
  ">=": "at least",
  "<=": "at most",
  ">": "more than",
  "<": "less than",
  "!": "anything but",
} as const;
