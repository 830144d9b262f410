import type { EditField } from "../edit-form.ts";

/** The texts of a system, in the order of its page. */
export const SYSTEM_TEXTS = [
  ["purpose", "Purpose"],
  ["coreMechanics", "Core mechanics"],
  ["currentState", "Current state"],
  ["targetState", "Target state"],
  ["inputs", "Inputs"],
  ["outputs", "Outputs"],
  ["failureStates", "Failure states"],
  ["scalingBehavior", "Scaling"],
  ["implementationNotes", "Implementation notes"],
  ["openQuestions", "Open questions"],
] as const;

export const CRITICALITIES = ["core", "important", "later"];
export const SYSTEM_STATUSES = ["draft", "active", "deprecated"];

const MOST_TEXT = 4_000;
const MOST_NAME = 120;

/** A name as the server takes it. */
export function nameField(label = "Name"): EditField {
  return { name: "name", label, kind: "line", most: MOST_NAME, check: checkName };
}

/** A text of several lines. */
export function textField(name: string, label: string): EditField {
  return { name, label, kind: "text", most: MOST_TEXT };
}

/** The fields of a system that people edit. */
export const SYSTEM_FIELDS: readonly EditField[] = [
  nameField(),
  { name: "systemSlug", label: "Short name", kind: "line", check: checkSlug },
  { name: "mvpCriticality", label: "How critical", kind: "choice", choices: CRITICALITIES },
  { name: "status", label: "Status", kind: "choice", choices: SYSTEM_STATUSES },
  ...SYSTEM_TEXTS.map(([name, label]) => textField(name, label)),
];

function checkName(text: string): string | undefined {
  return /\S/.test(text) ? undefined : "A name needs at least one letter.";
}

function checkSlug(text: string): string | undefined {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(text)
    ? undefined
    : "A short name has small letters, digits and hyphens only, for example combat-engine.";
}
