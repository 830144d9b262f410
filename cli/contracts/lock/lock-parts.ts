import { createHash } from "node:crypto";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../src/protocol/json/value.ts";

/** Texts of the parts of a lock, by the hash that names them. */
export type LockParts = ReadonlyMap<string, string>;

/** Sections of a contract that most tools have in common. */
const SECTIONS = new Set([
  "error_contract",
  "idempotency",
  "observability",
  "runtime",
  "security",
  "transactional",
]);
/** Shortest object schema that becomes a part. Unit: characters of JSON without spaces. */
const SHORTEST_SCHEMA = 700;
const REFERENCE = "$part";

/**
 * Moves what contracts have in common into parts: sections, and large object schemas within a
 * schema. A reference names the part by its hash.
 * Contract: what becomes a part depends on this contract alone, so that a change of one tool never
 * changes the file of another.
 */
export function splitParts(published: JsonObject, parts: Map<string, string>): JsonObject {
  const share = (value: JsonObject): JsonObject => {
    const text = formatJson(value);
    const hash = hashOf(text);
    parts.set(hash, text);
    return { [REFERENCE]: hash };
  };
  const splitSchema = (schema: JsonValue): JsonValue =>
    mapChildren(schema, (child) => {
      const split = splitSchema(child);
      if (!isJsonObject(split) || !isLargeSchema(child)) return split;
      return share(split);
    });
  const contract = mapChildren(published["contract"] ?? null, (section, name) => {
    if (isJsonObject(section) && SECTIONS.has(name)) return share(section);
    if (name !== "affordance") return section;
    return mapChildren(section, (value, key) =>
      key.endsWith("_schema") ? splitSchema(value) : value,
    );
  });
  return { ...published, contract };
}

/**
 * Puts the parts back. Throws an Error that names a part which is missing, or which is not what its
 * name says.
 */
export function joinParts(value: JsonValue, parts: LockParts): JsonValue {
  const hash = referenceIn(value);
  if (hash === undefined) return mapChildren(value, (child) => joinParts(child, parts));
  const text = parts.get(hash);
  if (text === undefined) throw new Error(`names the part ${hash}, which is missing`);
  if (hashOf(text) !== hash) throw new Error(`names the part ${hash}, whose text was changed`);
  return joinParts(JSON.parse(text) as JsonValue, parts);
}

/** Formats JSON for readable diffs: two spaces, sorted keys, a final newline. */
export function formatJson(value: JsonValue): string {
  return `${JSON.stringify(sortKeys(value), null, 2)}\n`;
}

function isLargeSchema(value: JsonValue): boolean {
  return (
    isJsonObject(value) &&
    value["type"] === "object" &&
    JSON.stringify(value).length >= SHORTEST_SCHEMA
  );
}

function referenceIn(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const [[key, hash] = [], ...more] = Object.entries(value);
  return key === REFERENCE && more.length === 0 && typeof hash === "string" ? hash : undefined;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function sortKeys(value: JsonValue): JsonValue {
  const sorted = mapChildren(value, sortKeys);
  if (!isJsonObject(sorted)) return sorted;
  return fromEntries(Object.entries(sorted).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function mapChildren(
  value: JsonValue,
  change: (child: JsonValue, key: string) => JsonValue,
): JsonValue {
  if (isJsonArray(value)) return value.map((item, index) => change(item, String(index)));
  if (!isJsonObject(value)) return value;
  return fromEntries(Object.entries(value).map(([key, item]) => [key, change(item, key)] as const));
}

/** Threat: a field called `__proto__`. `Object.fromEntries` keeps it as a field. */
function fromEntries(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return Object.fromEntries(entries);
}
