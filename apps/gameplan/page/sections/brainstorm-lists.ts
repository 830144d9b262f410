import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { inWords, plural } from "../draw.ts";
import { textOf } from "../read-json.ts";

/** Results and tags of a brainstorm as people write them. Contract: every function is pure. */

const MOST_RESULTS = 50;
const MOST_RESULT = 500;
const MOST_TAGS = 20;
const MOST_TAG = 40;

const LABELLED = /^(summary|theme|idea|decision|question): ?(.*)$/i;

/** Writes each result as a line after its kind. Further lines of it are indented. */
export function writeResults(outputs: readonly JsonObject[]): string {
  const lines = outputs.map(
    (output) =>
      `${inWords(textOf(output, "kind"))}: ${textOf(output, "text").replaceAll("\n", "\n  ")}`,
  );
  return lines.join("\n");
}

/** Reads results. A line without a kind is an idea. */
export function readResults(text: string): { readonly kind: string; readonly text: string }[] {
  const results: { kind: string; text: string }[] = [];
  for (const line of text.split("\n")) {
    const last = results.at(-1);
    if (line.startsWith("  ") && last) last.text += `\n${line.slice(2)}`;
    else if (line.trim() !== "") {
      const [, kind = "idea", said = line.trim()] = LABELLED.exec(line) ?? [];
      results.push({ kind: kind.toLowerCase(), text: said });
    }
  }
  return results;
}

export function checkResults(text: string): string | undefined {
  const results = readResults(text);
  if (results.length > MOST_RESULTS) {
    return `At most ${MOST_RESULTS} results. These are ${results.length}.`;
  }
  const empty = results.find((result) => result.text.trim() === "");
  if (empty) return `A line says only "${inWords(empty.kind)}". Write what it is.`;
  const long = results.find((result) => result.text.length > MOST_RESULT);
  return long && `A result has at most ${plural(MOST_RESULT, "character")}: "${cut(long.text)}"`;
}

export function readTags(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ""))];
}

export function checkTags(text: string): string | undefined {
  const tags = readTags(text);
  if (tags.length > MOST_TAGS) return `At most ${MOST_TAGS} tags. These are ${tags.length}.`;
  const long = tags.find((tag) => tag.length > MOST_TAG);
  return long && `A tag has at most ${plural(MOST_TAG, "character")}: "${cut(long)}"`;
}

function cut(text: string): string {
  return `${text.slice(0, MOST_TAG)}…`;
}
