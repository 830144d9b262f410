import { parseSync } from "oxc-parser";
import { escapePattern } from "./escape-pattern.ts";

/** The names of the tests that a file may hold. */
export interface Titles {
  /** Says whether `name` may be a title of the file, or what a row of a table gives to one. */
  hold(name: string): boolean;
}

/** What stands in a title for a value of its table or of its template. */
const VALUE = /%[sdifjoO#$]|\$[\w.]+/g;

/**
 * Reads the titles of a test file without running it. Every text of the file counts as one, because
 * titles also come from tables; a title that is nothing but a value does not.
 */
export function readTitles(file: string, source: string): Titles {
  const texts = [...new Set(textsOf(parseSync(file, source).program))];
  const titles = texts
    .filter((text) => /[a-z\d]/i.test(text.replaceAll(VALUE, "")))
    .map((text) => {
      const pattern = text.split(VALUE).map((part) => escapePattern(part));
      return new RegExp(`^${pattern.join(".*")}$`, "s");
    });
  return { hold: (name) => titles.some((title) => title.test(name)) };
}

function textsOf(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(textsOf);
  if (typeof node !== "object" || node === null) return [];
  const inside = Object.values(node).flatMap(textsOf);
  if (!("type" in node)) return inside;
  if (node.type === "Literal" && "value" in node && typeof node.value === "string")
    return [node.value];
  if (node.type !== "TemplateLiteral" || !("quasis" in node)) return inside;
  const parts = (node.quasis as readonly { readonly value: { readonly cooked: string } }[]).map(
    ({ value }) => value.cooked,
  );
  return [parts.join("%s"), ...inside];
}
