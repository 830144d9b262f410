import type { JsonValue } from "../protocol/json/value.ts";

/** What a model is to read as the output of one tool call. */
export interface ToolOutput {
  /** As the transcript has it: the model or a client may have made it up. */
  readonly tool: string;
  readonly call: string;
  readonly result: JsonValue;
}

/**
 * Wraps a tool's output for a model: one element of three lines, the middle one being the JSON.
 * Threat: output that ends its own wrapper and goes on in the voice of someone else. No `<`, `>` or
 * `&` of the content reaches the model unescaped, so nothing inside can open or close an element.
 * `kind="data"` tells the model that it reads data and no instructions; a sentence would be paid for
 * with every call of every step.
 * Contract: pure and linear; the JSON parses back to the result.
 */
export function wrapToolOutput({ tool, call, result }: ToolOutput): string {
  const names = `tool="${escapeAttribute(tool)}" call="${escapeAttribute(call)}"`;
  return `<tool_output kind="data" ${names}>\n${escapeJson(JSON.stringify(result))}\n</tool_output>`;
}

const MARKUP = /[<>&\u2028\u2029]/;
const EVERY_MARKUP = /[<>&\u2028\u2029]/g;

/** In JSON text these characters stand inside strings alone, where an escape means the same. */
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
