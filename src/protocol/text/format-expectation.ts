/** What valibot says of one mismatch, as far as it is worded. */
export interface Mismatch {
  readonly type: string;
  readonly expected: string | null;
  readonly received: string;
}

/**
 * Words what a schema expected, for people and models: valibot says `>=2`, `never` or `"a" | "b"`.
 * Contract: pure; the text comes from the schema alone, never from what was sent.
 */
export function formatExpectation({ type, expected, received }: Mismatch): string {
  if (expected === null) return "a valid value";
  if (expected === "never") return "no such field";
  if (type === "strict_object" && received === "undefined") return "this field";
  if (type === "non_empty") return "something that is not empty";
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
