import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json/value.ts";
import { formatPath } from "../../../protocol/text/field-label.ts";

/** A list of objects, as a table. */
export interface DataTable {
  readonly label: string;
  /** The keys that the table shows. */
  readonly columns: readonly string[];
  readonly rows: readonly JsonObject[];
}

/** What a table shows at most. Wider objects are cut to their first keys. */
export const MAX_COLUMNS = 8;
const MAX_DEPTH = 3;

/** Data as tables, and the rest of it, which has none. */
export interface SplitData {
  readonly tables: readonly DataTable[];
  readonly rest: JsonValue;
  /** Tables leave out columns. */
  readonly isCut: boolean;
}

/** Takes lists of objects out of data. Contract: pure; the order of keys stays. */
export function splitTables(data: JsonValue): SplitData {
  const tables: DataTable[] = [];
  const rest = takeTables(data, [], tables) ?? {};
  const isCut = tables.some(({ columns, rows }) => keysOf(rows).length > columns.length);
  return { tables, rest, isCut };
}

/** Returns the data without its tables. Undefined: it is a table. */
function takeTables(
  value: JsonValue,
  path: readonly string[],
  tables: DataTable[],
): JsonValue | undefined {
  if (isTable(value)) {
    const columns = keysOf(value).slice(0, MAX_COLUMNS);
    tables.push({ label: formatPath(path), columns, rows: value });
    return undefined;
  }
  if (!isJsonObject(value) || path.length >= MAX_DEPTH) return value;
  const kept = Object.entries(value).map(
    ([key, item]) => [key, takeTables(item, [...path, key], tables)] as const,
  );
  return Object.fromEntries(kept.filter((entry) => entry[1] !== undefined)) as JsonObject;
}

function isTable(value: JsonValue): value is readonly JsonObject[] & JsonValue {
  return Array.isArray(value) && value.length > 1 && value.every(isWorthARow);
}

function isWorthARow(item: JsonValue): boolean {
  return isJsonObject(item) && Object.keys(item).length > 0;
}

function keysOf(rows: readonly JsonObject[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** Compares two values of a column: numbers by size, everything else as the reader sorts words. */
export function compareCells(one: JsonValue | undefined, other: JsonValue | undefined): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return wordOf(one).localeCompare(wordOf(other), undefined, { numeric: true });
}

function wordOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
