/** The parts of a valibot issue that the text uses. */
export interface Mismatch {
  readonly type: string;
  readonly expected: string | null;
  readonly received: string;
}

/**
 * Formats what a schema expected, for people and models. valibot writes `>=2`, `never` or `"a" |
 * "b"`.
 * Contract: pure; the text comes from the schema alone, never from the sent value.
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
