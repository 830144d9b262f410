import * as fc from "fast-check";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/json/value.ts";
import type { FailureClass } from "../../../src/protocol/outcome/taxonomy.ts";
import type { JsonSchema7 } from "../../../src/protocol/tool/spec.ts";

/** Values that a schema of the supported subset accepts. */
export function valueOf(schema: JsonSchema7): fc.Arbitrary<JsonValue> {
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as JsonValue[]));
  if ("const" in schema) return fc.constant(schema["const"]);
  if (Array.isArray(schema["anyOf"])) {
    return fc.oneof(...schema["anyOf"].map((option) => valueOf(option as JsonSchema7)));
  }
  const { type } = schema;
  switch (typeof type === "string" ? type : "") {
    case "object":
      return objectOf(schema);
    case "array":
      return arrayOf(schema);
    case "string":
      return stringOf(schema);
    case "integer":
    case "number":
      return numberOf(schema);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
}

export interface Mutation {
  readonly args: JsonObject;
  readonly taxonomyClass: FailureClass;
}

/** A valid object with exactly one thing wrong at its top level, and the class of what is wrong. */
export function mutationOf(schema: JsonSchema7): fc.Arbitrary<Mutation> {
  const properties = schema["properties"] as Record<string, JsonSchema7>;
  const required = schema["required"] as readonly string[];
  const faults: ((args: JsonObject) => Mutation)[] = [
    (args) => ({ args: { ...args, "\u{1F512}": 1 }, taxonomyClass: "STRUCTURAL_VIOLATION" }),
    ...required.map((name) => (args: JsonObject): Mutation => {
      const { [name]: _gone, ...rest } = args;
      return { args: rest, taxonomyClass: "STRUCTURAL_VIOLATION" };
    }),
    ...Object.entries(properties).flatMap(([name, property]) =>
      wrongValues(property).map(([value, taxonomyClass]) => (args: JsonObject): Mutation => {
        return { args: { ...args, [name]: value }, taxonomyClass };
      }),
    ),
  ];
  return fc.tuple(valueOf(schema), fc.constantFrom(...faults)).map(([args, break_]) => {
    if (!isJsonObject(args)) throw new Error("the input is no object");
    return break_(args);
  });
}

function wrongValues(schema: JsonSchema7): (readonly [JsonValue, FailureClass])[] {
  const wrong: (readonly [JsonValue, FailureClass])[] = [];
  const { type } = schema;
  if (type !== undefined) wrong.push([type === "object" ? 7 : {}, "TYPE_MISMATCH"]);
  if (type === "string") {
    wrong.push([7, "TYPE_MISMATCH"]);
    const longest = numberAt(schema, "maxLength");
    if (longest !== undefined) wrong.push(["x".repeat(longest + 1), "OUT_OF_BOUNDS"]);
    if ((numberAt(schema, "minLength") ?? 0) > 0) wrong.push(["", "OUT_OF_BOUNDS"]);
    if (Array.isArray(schema["enum"])) wrong.push(["\u{1F512}", "OUT_OF_BOUNDS"]);
  }
  if (type === "integer" || type === "number") {
    const { min, max } = rangeOf(schema);
    if (max !== undefined) wrong.push([max + 1, "OUT_OF_BOUNDS"]);
    if (min !== undefined) wrong.push([min - 1, "OUT_OF_BOUNDS"]);
  }
  return wrong;
}

function objectOf(schema: JsonSchema7): fc.Arbitrary<JsonValue> {
  const properties = Object.entries(schema["properties"] as Record<string, JsonSchema7>);
  return fc.record(
    Object.fromEntries(properties.map(([name, property]) => [name, valueOf(property)])),
    { requiredKeys: schema["required"] as never, noNullPrototype: true },
  );
}

function arrayOf(schema: JsonSchema7): fc.Arbitrary<JsonValue> {
  const minLength = numberAt(schema, "minItems") ?? 0;
  const maxLength = Math.max(minLength, Math.min(numberAt(schema, "maxItems") ?? 5, 5));
  const item = valueOf(schema["items"] as JsonSchema7);
  return schema["uniqueItems"] === true
    ? fc.uniqueArray(item, { minLength, maxLength, selector: (value) => JSON.stringify(value) })
    : fc.array(item, { minLength, maxLength });
}

function numberOf(schema: JsonSchema7): fc.Arbitrary<number> {
  const { min, max } = rangeOf(schema);
  const minExcluded = "exclusiveMinimum" in schema;
  const maxExcluded = "exclusiveMaximum" in schema;
  const step = numberAt(schema, "multipleOf") ?? (schema["type"] === "integer" ? 1 : undefined);
  const range = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  if (step === undefined) {
    const bounds = { ...range, minExcluded, maxExcluded };
    return fc.double({ ...bounds, noNaN: true, noDefaultInfinity: true });
  }
  const least = Math.ceil((min ?? -(2 ** 31)) / step);
  const most = Math.floor((max ?? 2 ** 31 - 1) / step);
  return fc
    .integer({ min: Math.max(least, -(2 ** 31)), max: Math.min(most, 2 ** 31 - 1) })
    .map((count) => count * step)
    .filter((value) => !(minExcluded && value === min) && !(maxExcluded && value === max));
}

/** Texts that every validator of a format of draft 7 takes; rare forms are left out. */
const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  date: timeOf(0, "YYYY-MM-DD".length),
  "date-time": timeOf(0),
  time: timeOf("YYYY-MM-DDT".length),
  email: formatIn((word) => `${word}@example.com`),
  ipv4: fc.ipV4(),
  ipv6: fc.constant("2001:db8::1"),
  uri: formatIn((word) => `https://${word}.example/${word}`),
  uuid: fc.uuid({ version: 4 }),
};

function timeOf(from: number, to?: number): fc.Arbitrary<string> {
  const day = fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true });
  return day.map((date) => date.toISOString().slice(from, to));
}

function formatIn(frame: (word: string) => string): fc.Arbitrary<string> {
  return fc.stringMatching(/^[a-z]{1,12}$/).map(frame);
}

function stringOf(schema: JsonSchema7): fc.Arbitrary<string> {
  const { format } = schema;
  const known = typeof format === "string" ? FORMATS[format] : undefined;
  if (known) return known;
  const minLength = numberAt(schema, "minLength") ?? 0;
  const maxLength = Math.max(minLength, Math.min(numberAt(schema, "maxLength") ?? 64, 64));
  const pattern = schema["pattern"];
  if (typeof pattern !== "string") return fc.string({ minLength, maxLength });
  return matching(pattern).filter((text) => text.length >= minLength && text.length <= maxLength);
}

const arbitraries = new Map<string, fc.Arbitrary<string>>();

/** Building one takes milliseconds, and the schemas of a pack share their patterns. */
function matching(pattern: string): fc.Arbitrary<string> {
  const known = arbitraries.get(pattern);
  if (known) return known;
  const built = fc.stringMatching(new RegExp(pattern));
  arbitraries.set(pattern, built);
  return built;
}

function rangeOf(schema: JsonSchema7): { min?: number; max?: number } {
  const min = numberAt(schema, "minimum") ?? numberAt(schema, "exclusiveMinimum");
  const max = numberAt(schema, "maximum") ?? numberAt(schema, "exclusiveMaximum");
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

function numberAt(schema: JsonSchema7, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === "number" ? value : undefined;
}
