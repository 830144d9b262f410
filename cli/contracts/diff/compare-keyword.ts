import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "../../../src/protocol/json/value.ts";
import type { SchemaDifference, SchemaEffect, SchemaPair } from "./schema-difference.ts";

type Judged = Pick<SchemaDifference, "effect" | "what">;
type Keyword = (pair: SchemaPair, name: string) => readonly Judged[];

/**
 * Compares one keyword of two schemas, without fields and nested schemas. Contract: pure. A changed
 * keyword without a row here counts as `other`.
 */
export function compareKeyword(name: string, pair: SchemaPair): readonly SchemaDifference[] {
  const [before, after] = [pair.before[name], pair.after[name]];
  if (isDeepStrictEqual(before, after)) return [];
  const compare = KEYWORDS.get(name) ?? (() => [{ effect: "other", what: `${name} changed` }]);
  const path = [...pair.path, name];
  return compare(pair, name).map(({ effect, what }) => ({ path, before, after, effect, what }));
}

const wording: Keyword = (_pair, name) => [{ effect: "wording", what: `${name} reworded` }];

/** A lower or an upper bound of the accepted values. */
const bound =
  (direction: "lower" | "upper"): Keyword =>
  (pair, name) => {
    const [before, after] = [pair.before[name], pair.after[name]];
    if (typeof (before ?? 0) !== "number" || typeof (after ?? 0) !== "number") {
      return [{ effect: "other", what: `${name} changed` }];
    }
    const none = direction === "lower" ? -Infinity : Infinity;
    const isRaised = Number(after ?? none) > Number(before ?? none);
    const isNarrower = isRaised === (direction === "lower");
    const effect = isNarrower ? "narrower" : "wider";
    return [{ effect, what: `${name} ${isNarrower ? "tightened" : "loosened"}` }];
  };

/** A keyword that restricts by its presence. Two different values cannot be compared. */
const restriction: Keyword = (pair, name) => {
  if (pair.before[name] === undefined) return [{ effect: "narrower", what: `${name} added` }];
  if (pair.after[name] === undefined) return [{ effect: "wider", what: `${name} removed` }];
  return [{ effect: "other", what: `${name} changed` }];
};

const compareMultiple: Keyword = (pair, name) => {
  const [before, after] = [pair.before[name], pair.after[name]];
  if (typeof before !== "number" || typeof after !== "number") return restriction(pair, name);
  if (Number.isInteger(after / before)) {
    return [{ effect: "narrower", what: "multipleOf tightened" }];
  }
  return Number.isInteger(before / after)
    ? [{ effect: "wider", what: "multipleOf loosened" }]
    : [{ effect: "other", what: "multipleOf changed" }];
};

const compareUnique: Keyword = ({ after }) =>
  after["uniqueItems"] === true
    ? [{ effect: "narrower", what: "items must differ now" }]
    : [{ effect: "wider", what: "items may repeat now" }];

/** No caller relied on the default of a required field. */
const compareDefault: Keyword = ({ before, isOptionalNow }) =>
  isOptionalNow === true && before["default"] === undefined
    ? [{ effect: "wider", what: "a default for what was required before" }]
    : [{ effect: "other", what: "default changed" }];

const compareTypes: Keyword = ({ before, after }) => {
  const isNamed = [before["type"], after["type"]].every((type) => typeof (type ?? "") === "string");
  const effect = isNamed ? compareSets(typesOf(before), typesOf(after)) : "other";
  if (effect === "wording") return [{ effect, what: "type said in another way" }];
  return [{ effect, what: effect === "other" ? "type changed" : `type is ${effect} now` }];
};

/** Compares `const` and `enum` in the same way: a constant is a list of one value. */
const compareValues: Keyword = ({ before, after }, name) => {
  if (!listsPlainly(before) || !listsPlainly(after)) {
    return [{ effect: "other", what: `${name} changed` }];
  }
  // A constant that became a list, or the reverse, is one difference.
  if (name === "const" && ("enum" in before || "enum" in after)) return [];
  const [old, current] = [valuesOf(before), valuesOf(after)];
  if (!old) return [{ effect: "narrower", what: "only listed values are allowed now" }];
  if (!current) return [{ effect: "wider", what: "any value is allowed now" }];
  const removed = [...old].filter((value) => !current.has(value));
  const added = [...current].filter((value) => !old.has(value));
  if (removed.length + added.length === 0) {
    return [{ effect: "wording", what: "order of the values" }];
  }
  return [
    ...removed.map((value): Judged => ({ effect: "narrower", what: `value removed: ${value}` })),
    ...added.map((value): Judged => ({ effect: "wider", what: `value added: ${value}` })),
  ];
};

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ...["title", "description", "examples"].map((name) => [name, wording] as const),
  ...["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"].map(
    (name) => [name, bound("lower")] as const,
  ),
  ...["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"].map(
    (name) => [name, bound("upper")] as const,
  ),
  ["pattern", restriction],
  ["format", restriction],
  ["multipleOf", compareMultiple],
  ["uniqueItems", compareUnique],
  ["default", compareDefault],
  ["type", compareTypes],
  ["enum", compareValues],
  ["const", compareValues],
]);

function listsPlainly(schema: JsonObject): boolean {
  if ("const" in schema) return !("enum" in schema);
  return !("enum" in schema) || Array.isArray(schema["enum"]);
}

/** Returns the listed values of a schema as JSON. Undefined when the schema lists none. */
function valuesOf(schema: JsonObject): ReadonlySet<string> | undefined {
  const listed = "const" in schema ? [schema["const"]] : schema["enum"];
  if (!Array.isArray(listed)) return undefined;
  return new Set((listed as readonly JsonValue[]).map((value) => JSON.stringify(value)));
}

/**
 * Returns the types that a schema names or implies by its values. Undefined when it accepts any
 * type.
 */
function typesOf(schema: JsonObject): ReadonlySet<string> | undefined {
  const { type } = schema;
  if (typeof type === "string") return withIntegers(type);
  const values = valuesOf(schema);
  if (!values) return undefined;
  return new Set([...values].map((value) => typeOf(JSON.parse(value))));
}

function withIntegers(type: string): ReadonlySet<string> {
  return new Set(type === "number" ? ["number", "integer"] : [type]);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function compareSets(
  before: ReadonlySet<string> | undefined,
  after: ReadonlySet<string> | undefined,
): SchemaEffect {
  if (!before || !after) {
    if (before === after) return "wording";
    return after ? "narrower" : "wider";
  }
  const isSubset = [...after].every((type) => before.has(type));
  const isSuperset = [...before].every((type) => after.has(type));
  if (isSubset && isSuperset) return "wording";
  if (isSubset) return "narrower";
  return isSuperset ? "wider" : "other";
}
