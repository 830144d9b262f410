import type { JsonValue } from "../../src/protocol/json/value.ts";
import { toVisible } from "../../src/protocol/text/visible.ts";
import type { AppliedDocument, Outcome } from "./apply-plan.ts";
import { placeOf } from "./tenant-files.ts";
import type { Difference } from "./differences.ts";
import type { Action, PlannedDocument } from "./plan.ts";

/** Longest value in one line. Unit: UTF-16 code units. */
const MAX_VALUE_CHARS = 400;

const WORDS: Readonly<Record<Action, string>> = {
  create: "create",
  update: "update",
  store: "store; what is stored cannot be read back",
  delete: "delete",
  unchanged: "unchanged",
  drift: "DRIFT",
  unmanaged: "only at the deployment; it stays",
  removed: "its file is gone; it stays until a push with --delete",
  forget: "gone on both sides",
};

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  applied: "applied",
  conflict: "NOT applied: somebody changed it at this moment. Run the command again",
  refused: "NOT applied: the deployment refused it",
  no_answer: "no answer: it may have been applied. Run the command again, which compares first",
  not_tried: "not tried, because an earlier document failed",
};

/** Writes a plan, one line for each document and one for each field. Colours: for a terminal. */
export function formatPlan(plan: readonly PlannedDocument[], colours: boolean): readonly string[] {
  return plan.flatMap(({ key, action, note, differences }) => [
    `${key}: ${WORDS[action]}${note === undefined ? "" : `: ${note}`}`,
    ...differences.map((difference) => formatDifference(difference, colours)),
  ]);
}

/** Writes what became of each document that was to change, and what of it cannot work. */
export function formatApplied(
  applied: readonly AppliedDocument[],
  project: string,
): readonly string[] {
  return applied.flatMap((document) => {
    const { key, outcome, reason } = document;
    const line = [`${key}: ${OUTCOMES[outcome]}`, ...(reason === undefined ? [] : [reason])];
    return [line.join(". "), ...formatWarnings(document, project)];
  });
}

/** Writes the warnings of a deployment about a document, with their lines. */
export function formatWarnings(
  { key, warnings = [] }: AppliedDocument,
  project: string,
): readonly string[] {
  return warnings.map(
    ({ pointer, message }) => `warning ${placeOf(project, key, pointer)}: ${pointer}: ${message}`,
  );
}

function formatDifference({ pointer, from, to }: Difference, colours: boolean): string {
  const place = toVisible(pointer || "(all)").text;
  if (to === undefined) return paint(`  - ${place}: ${show(from)}`, "31", colours);
  if (from === undefined) return paint(`  + ${place}: ${show(to)}`, "32", colours);
  return paint(`  ~ ${place}: ${show(from)} -> ${show(to)}`, "33", colours);
}

function paint(text: string, colour: string, colours: boolean): string {
  return colours ? `\u001B[${colour}m${text}\u001B[0m` : text;
}

/** Threat: control characters of a stored document that a terminal obeys. */
function show(value: JsonValue | undefined): string {
  const text = toVisible(JSON.stringify(value) ?? "").text;
  if (text.length <= MAX_VALUE_CHARS) return text;
  return `${text.slice(0, MAX_VALUE_CHARS)}... (${text.length} characters)`;
}
