import {
  RISKS,
  TERMS,
  type PacketField,
  type PacketLine,
} from "../../protocol/approval/packet-lines.ts";
import { LIMITED } from "../../protocol/approval/raise-lines.ts";
import { readValues } from "../../protocol/text/fill-text.ts";
import { formatTime } from "../texts/format-time.ts";
import { say, type Text } from "../texts/say.ts";
import { sayKnown, type Worded } from "../texts/say-known.ts";

/*
 * The server words a packet in English, for all who read it. This page says those words in its own
 * language. Threat: a text of an author, a model or a stranger must stay as it is. So only the
 * fields that are listed here are looked at, and values within them are never changed.
 */

/** Labels of lines that show no value of an object. */
const LABELS: Worded = {
  texts: [
    "Action",
    "After",
    "After reading",
    "Arguments",
    "Before",
    "Consequence",
    "Data class",
    "Expires",
    "Fingerprint",
    "If rejected",
    "Jurisdiction",
    "Owner of the tool",
    "Question",
    "Raise",
    "Risk",
    "Tool",
    "Trace",
    "Way back",
    "Workspace",
    "Step {number}",
    "New here: {what}",
    "May change: {what}",
  ],
};

const TERM_LABELS: Worded = {
  texts: ["Changed: rule {rule}, {what}", "Changed: {what}"],
  words: Object.values(TERMS),
};

/** Where in the packet a changed value stands, as its label says it. */
export const PLACES: Worded = {
  texts: [
    "Arguments › Shown › {field}",
    "Arguments › Withheld › {field}",
    "Before state › {field}",
    "After state › {field}",
    "Steps › {step} › Payload › Arguments › Shown › {field}",
    "Steps › {step} › Payload › Title",
    "Steps › {step} › Version",
    "Action name › Title",
    "Action name › Tool title",
    "Action name › Version",
    "Compensation › Note",
    "Arguments",
    "Before state",
    "After state",
    "Consequence",
    "Data class",
    "Owner",
    "Rejection path",
    "Risk class",
    "Steps",
  ],
};

/** The line that names the tool. Another line of its field has the title of an author. */
const TOOL: Text = "Tool";
const isVersion = (text: string): boolean => /^[\w.+-]+$/.test(text);
const TOOL_NAME: Worded = { texts: ["{tool}, version {version}"], fits: { version: isVersion } };
const CHANGED: Text = "Changed: {what}";
const ABSENT: Text = "absent";
const CHANGE: Worded = {
  texts: ["was {before}, is now {after}"],
  words: [ABSENT],
  fits: { before: (text) => text === ABSENT || isJson(text) },
};
const STATE: Worded = { texts: ["not known"] };

/** Texts of lines, by field. */
const TEXTS: { readonly [Field in PacketField]?: Worded } = {
  changedTerms: CHANGE,
  changedShown: CHANGE,
  raise: {
    texts: [
      "the limit that you set for {what}, from {limit} to {to}; {used} used so far, this call needs {needs}",
      "the limit of this run for {what}, from {limit} to {to}; {used} used so far, this call needs {needs}",
    ],
    words: [...Object.values(LIMITED), "no limit"],
  },
  consequence: {
    texts: [
      "It reads with these arguments and changes nothing. Its contract does not say more.",
      "It changes data with these arguments. Its contract does not say more.",
      "It acts on people or systems outside with these arguments. Its contract does not say more.",
      "{text}… ({count} more characters are not shown)",
    ],
  },
  arguments: { texts: ["none"] },
  withheld: { texts: ["withheld: the contract of the tool does not show this value"] },
  beforeState: STATE,
  afterState: STATE,
  steps: {
    texts: [
      "{tool}, version {version}: its arguments are not known yet",
      "{tool}, version {version}: {what}; not shown: {fields}",
      "{tool}, version {version}: {what}",
    ],
    // Behind the arguments, which are JSON, stand pointers.
    fits: { version: isVersion, fields: (text) => /^\/[^"]*$/.test(text) },
  },
  riskClass: { texts: ["{risk}: {what}"], words: Object.values(RISKS) },
  jurisdiction: { texts: ["{service}: in no region of the policy", "{service}: in {regions}"] },
  compensation: {
    texts: [
      "It changes nothing, so there is nothing to undo.",
      "It cannot be undone.",
      "It cannot be undone. {more}",
      "{tool} can undo it.",
      "{tool} can undo it. {more}",
      "{tool} would undo it, but the policy does not allow that tool.",
    ],
    words: [
      "Doing it again changes nothing more.",
      "It is one step of several, and is undone when a later one fails.",
      "It follows a step that cannot be undone.",
    ],
  },
  rejectionPath: {
    texts: ["The tool does not run. A model that asked for it is told, and may go on without it."],
  },
};

const SOURCES: Worded = {
  texts: [
    "the output of {tool}",
    "context of the page",
    "a file",
    "history that a client sent",
    "earlier sources",
    "other text",
  ],
};

const HINTS: Worded = {
  texts: [
    "optional",
    "a text",
    "a text of up to {count} characters",
    "a number",
    "a number from {least} up to {most}",
    "a number from {least}",
    "a number up to {most}",
    "a whole number",
    "a whole number from {least} up to {most}",
    "a whole number from {least}",
    "a whole number up to {most}",
  ],
};

const MISMATCH: Worded = {
  texts: ["Target", "Expected", "Expected › {field}", "Found", "Found › {field}"],
};

/** Says a line of a packet in the language of the page. */
export function sayLine(line: PacketLine): PacketLine {
  return { ...line, label: sayLabel(line), text: sayText(line) };
}

/** Says the text of a line likewise. */
export function sayText({ field, label, pointer, text }: PacketLine): string {
  const isValue = pointer !== undefined && /^(?:arguments|beforeState|afterState)$/.test(field);
  if (isValue) return text;
  if (field === "expiresAt") return formatTime(text);
  if (field === "after") return sayEach(text, ", ", SOURCES);
  if (field === "actionName") return label === TOOL ? sayKnown(text, TOOL_NAME) : text;
  const known = Object.hasOwn(TEXTS, field) ? TEXTS[field] : undefined;
  return known ? sayKnown(text, known) : text;
}

/** Says likewise what a field of a question takes; what its author wrote about it stays. */
export function sayHint(text: string): string {
  return sayEach(text, "; ", HINTS);
}

/** Says likewise which of two states a value belongs to. */
export function sayMismatch(line: PacketLine): PacketLine {
  return { ...line, label: sayKnown(line.label, MISMATCH) };
}

function sayLabel({ field, label, pointer }: PacketLine): string {
  if (field === "changedShown") {
    const { what } = readValues(CHANGED, label) ?? {};
    return what === undefined ? label : say(CHANGED, { what: sayKnown(what, PLACES) });
  }
  if (pointer !== undefined) return label;
  return sayKnown(label, field === "changedTerms" ? TERM_LABELS : LABELS);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function sayEach(text: string, separator: string, worded: Worded): string {
  return text
    .split(separator)
    .map((part) => sayKnown(part, worded))
    .join(separator);
}
