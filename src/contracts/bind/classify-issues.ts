import type * as v from "valibot";
import { toPointer } from "../../protocol/json/pointer.ts";
import type { FieldError, ToolFailure } from "../../protocol/outcome/observation.ts";
import { formatExpectation } from "../../protocol/text/format-expectation.ts";

/** From the most basic fault to the finest. The failure has the first class that occurs. */
const ORDER = ["STRUCTURAL_VIOLATION", "TYPE_MISMATCH", "OUT_OF_BOUNDS"] as const;
type IssueClass = (typeof ORDER)[number];

const MAX_FIELD_ERRORS = 16;

/**
 * Turns valibot issues into one failure: sorts them into shape, types and bounds, and writes field
 * errors that the model can repair from.
 * Contract: pure. A message names the expectation and the kind of the actual value. It never holds
 * the value, or a key that the model invented, because both may hold anything.
 */
export function classifyIssues(issues: readonly v.BaseIssue<unknown>[]): ToolFailure {
  const classes = new Set(issues.map(classify));
  return {
    taxonomyClass: ORDER.find((candidate) => classes.has(candidate)) ?? "STRUCTURAL_VIOLATION",
    errors: issues.slice(0, MAX_FIELD_ERRORS).map(toFieldError),
  };
}

function classify(issue: v.BaseIssue<unknown>): IssueClass {
  if (isMissing(issue) || isUnknown(issue)) return "STRUCTURAL_VIOLATION";
  if (issue.kind === "validation") return "OUT_OF_BOUNDS";
  const isChoice = issue.type === "picklist" || issue.type === "enum" || issue.type === "literal";
  return isChoice && typeof issue.input === "string" ? "OUT_OF_BOUNDS" : "TYPE_MISMATCH";
}

function toFieldError(issue: v.BaseIssue<unknown>): FieldError {
  const code = classify(issue);
  if (isUnknown(issue)) {
    const holder = pointerOf(issue.path?.slice(0, -1));
    return { field: holder, code, message: "unknown fields are not accepted" };
  }
  const field = pointerOf(issue.path);
  if (isMissing(issue)) return { field, code, message: "required field is missing" };
  if (hasOwnWords(issue)) return { field, code, message: issue.message };
  const expected = formatExpectation(issue);
  return { field, code, message: `expected ${expected}, got ${kindOf(issue.input)}` };
}

/**
 * The author gave the check a message of its own: those of valibot begin with "Invalid"
 * (valibot 1.5). Contract: the author does not repeat the value in it.
 */
function hasOwnWords({ kind, message }: v.BaseIssue<unknown>): boolean {
  return kind === "validation" && !message.startsWith("Invalid ");
}

/**
 * valibot reports missing and unknown keys on the object, with the key as the last path item
 * (valibot 1.5, strictObject).
 */
function isMissing(issue: v.BaseIssue<unknown>): boolean {
  return issue.type === "strict_object" && issue.received === "undefined";
}

function isUnknown(issue: v.BaseIssue<unknown>): boolean {
  return issue.type === "strict_object" && issue.expected === "never";
}

function pointerOf(path: readonly { readonly key: unknown }[] | undefined): string | null {
  if (!path || path.length === 0) return null;
  return toPointer(path.map(({ key }) => key));
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "string") return `a string of ${value.length} characters`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
