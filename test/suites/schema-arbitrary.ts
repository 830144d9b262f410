import * as fc from "fast-check";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json.ts";
import type { FailureClass } from "../../src/protocol/taxonomy.ts";
import type { JsonSchema7 } from "../../src/protocol/tool-spec.ts";

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
      return fc.array(valueOf(schema["items"] as JsonSchema7), {
        minLength: numberAt(schema, "minItems") ?? 0,
        maxLength: Math.min(numberAt(schema, "maxItems") ?? 5, 5),
      });
    case "string":
      return stringOf(schema);
    case "integer":
      return fc.integer(rangeOf(schema));
    case "number":
      return fc.double({ ...rangeOf(schema), noNaN: true, noDefaultInfinity: true });
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

function stringOf(schema: JsonSchema7): fc.Arbitrary<string> {
  const minLength = numberAt(schema, "minLength") ?? 0;
  const maxLength = Math.min(numberAt(schema, "maxLength") ?? 64, 64);
  const pattern = schema["pattern"];
  if (typeof pattern !== "string") return fc.string({ minLength, maxLength });
  return fc
    .stringMatching(new RegExp(pattern))
    .filter((text) => text.length >= minLength && text.length <= maxLength);
}

function rangeOf(schema: JsonSchema7): { min?: number; max?: number } {
  const min = numberAt(schema, "minimum");
  const max = numberAt(schema, "maximum");
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

function numberAt(schema: JsonSchema7, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === "number" ? value : undefined;
}
