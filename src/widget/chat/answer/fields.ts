import { localeOfPage, say } from "../../texts/say.ts";
import { formatPath, sentence } from "../../../protocol/text/field-label.ts";
import type { JsonValue } from "../../../protocol/json/value.ts";

/** One labelled value of arguments or of a result, formatted for a reader. */
export interface Field {
  readonly label: string;
  readonly value: string;
}

export const MAX_FIELDS = 60;
const MAX_DEPTH = 6;
const MAX_VALUE_CHARS = 10_000;

/** Formats an object as fields. A nested field is labelled with its path. */
export function readFields(value: JsonValue): readonly Field[] {
  const fields: Field[] = [];
  collect(value, { path: [], fields });
  if (fields.length <= MAX_FIELDS) return fields;
  return [...fields.slice(0, MAX_FIELDS), { label: "…", value: say("More fields are not shown.") }];
}

/** Turns `core__get_current_time` into "Get current time". */
export function friendlyName(id: string): string {
  return sentence(id.slice(id.lastIndexOf("__") + 1)) || id || say("Tool");
}

interface Collector {
  readonly path: readonly string[];
  readonly fields: Field[];
}

function collect(value: JsonValue, { path, fields }: Collector): void {
  if (fields.length > MAX_FIELDS) return;
  const isNested = typeof value === "object" && value !== null && path.length < MAX_DEPTH;
  const entries = isNested ? Object.entries(value) : [];
  if (isNested && Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    fields.push({ label: formatPath(path), value: shorten(value.join(", ")) });
  } else if (isNested && entries.length > 0) {
    for (const [key, item] of entries) {
      const step = Array.isArray(value) ? String(Number(key) + 1) : key;
      collect(item, { path: [...path, step], fields });
    }
  } else if (path.length > 0 || !isNested) {
    if (path.length === 0 && value === null) return;
    fields.push({ label: formatPath(path), value: formatValue(value, path.at(-1)) });
  }
}

/** A number under such a name counts nothing, so no mark belongs between its digits. */
const NAMES = new Set(["id", "ids", "year", "code", "number", "no", "port", "zip", "phone"]);
// Four digits are often a year.
const STYLE = { maximumFractionDigits: 20, useGrouping: "min2" } as const;
let numbers:
  | { readonly locale: string | undefined; readonly format: Intl.NumberFormat }
  | undefined;

function formatCount(value: number): string {
  const locale = localeOfPage();
  if (!numbers || numbers.locale !== locale) {
    numbers = { locale, format: new Intl.NumberFormat(locale, STYLE) };
  }
  return numbers.format.format(value);
}

/**
 * Formats one value in words, a number as the reader writes it, and JSON text for what has no
 * words. `key` names the value. Very long values are cut.
 */
export function formatValue(value: JsonValue, key = ""): string {
  if (typeof value === "number" && !isName(key)) return formatCount(value);
  if (typeof value === "string") return value === "" ? say("(empty)") : shorten(value);
  if (typeof value === "boolean") return value ? say("Yes") : say("No");
  return value === null ? say("None") : shorten(JSON.stringify(value));
}

function isName(key: string): boolean {
  return NAMES.has(sentence(key).toLowerCase().split(" ").at(-1) ?? "");
}

export function shorten(text: string): string {
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
}
