import type { JsonValue } from "../json/value.ts";

/** A value for a model to read, inside one element. */
export interface LabelledData {
  readonly element: string;
  /** Attributes of the element. Their values may be untrusted. */
  readonly names: Readonly<Record<string, string>>;
  readonly value: JsonValue;
}

/**
 * Labels a value as data for a model: one element of three lines, with the JSON in the middle line.
 * Threat: data that closes its own element and continues as another speaker. The content reaches
 * the model with every `<`, `>` and `&` escaped, so it can neither open nor close an element.
 * `kind="data"` tells the model that the content is data and no instruction.
 * Contract: pure and linear; the JSON parses back to the value.
 */
export function labelData({ element, names, value }: LabelledData): string {
  const attributes = Object.entries(names).map(([name, text]) => ` ${name}="${escapeText(text)}"`);
  const opening = `<${element} kind="data"${attributes.join("")}>`;
  return `${opening}\n${escapeJson(JSON.stringify(value))}\n</${element}>`;
}

const MARKUP = /[<>&\u2028\u2029]/;
const EVERY_MARKUP = /[<>&\u2028\u2029]/g;

/** JSON text has these characters only inside strings, where an escape means the same. */
function escapeJson(json: string): string {
  return MARKUP.test(json) ? json.replaceAll(EVERY_MARKUP, escapeUnit) : json;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const NOT_PLAIN = /[^\w .:/@+-]/gu;

function escapeText(text: string): string {
  return text.replaceAll(NOT_PLAIN, (char) => `&#x${char.codePointAt(0)?.toString(16)};`);
}
