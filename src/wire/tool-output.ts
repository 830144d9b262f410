import type { JsonValue } from "../protocol/json/value.ts";

/** Output of one tool call, for a model to read. */
export interface ToolOutput {
  /** Name from the transcript; untrusted, because a model or a client may have invented it. */
  readonly tool: string;
  readonly call: string;
  readonly result: JsonValue;
}

/**
 * Wraps a tool's output for a model: one element of three lines, with the JSON in the middle line.
 * Threat: output that closes its own wrapper and continues as another speaker. The content reaches
 * the model with every `<`, `>` and `&` escaped, so it can neither open nor close an element.
 * `kind="data"` tells the model that the content is data and no instruction. An explaining sentence
 * would cost tokens with every call of every step.
 * Contract: pure and linear; the JSON parses back to the result.
 */
export function wrapToolOutput({ tool, call, result }: ToolOutput): string {
  const names = `tool="${escapeAttribute(tool)}" call="${escapeAttribute(call)}"`;
  return `<tool_output kind="data" ${names}>\n${escapeJson(JSON.stringify(result))}\n</tool_output>`;
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

function escapeAttribute(text: string): string {
  return text.replaceAll(NOT_PLAIN, (char) => `&#x${char.codePointAt(0)?.toString(16)};`);
}
