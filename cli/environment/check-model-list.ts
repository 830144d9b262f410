import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MODEL_WIRE_IDS, type ModelDeclaration } from "../../src/protocol/model/declaration.ts";
import type { Finding } from "./finding.ts";

/** Changes of one character that make a word another one, at most. */
const MOST_TYPOS = 2;

/**
 * Finds entries of the setting `MODELS` that begin almost like a wire. An unknown wire is no error:
 * names of models hold colons too, and such an entry is a model of the wire openai.
 */
export function checkModelList(
  project: string,
  list: string | undefined,
  declared: readonly ModelDeclaration[],
): readonly Finding[] {
  const entries = list?.split(",").map((entry) => entry.trim()) ?? [];
  return entries.flatMap((entry, index): readonly Finding[] => {
    const [prefix = "", ...more] = entry.split(":");
    const isKnown = MODEL_WIRE_IDS.some((wire) => wire === prefix);
    if (more.length === 0 || isKnown || declared.some(({ id }) => id === entry)) return [];
    const wire = MODEL_WIRE_IDS.find((id) => distance(prefix.toLowerCase(), id) <= MOST_TYPOS);
    if (wire === undefined) return [];
    const message =
      `MODELS: entry ${index + 1} begins almost like ${wire}: and names no wire. ` +
      "So it is a model of the wire openai with this whole name";
    return [{ level: "warning", place: placeOfSetting(project, "MODELS", list ?? ""), message }];
  });
}

/** The line of wrangler.toml that holds a setting; the file alone when the line is not found. */
function placeOfSetting(project: string, name: string, value: string): string {
  const lines = readFileSync(join(project, "wrangler.toml"), "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes(name) && line.includes(value));
  return at < 0 ? "wrangler.toml" : `wrangler.toml:${at + 1}`;
}

/** The edit distance of two words (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of from.split("").entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const kept = (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1);
      next.push(Math.min(kept, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
