import { toJsonSchema } from "@valibot/to-json-schema";
import { toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";
import { sorted } from "../../protocol/text/sorted.ts";
import type { ClosedObjectSchema } from "../define/definition.ts";

/**
 * Derives a JSON Schema from a valibot schema. Every JSON Schema is made here (seeds/000 #13, #14).
 * Contract: the same bytes every time. Fields keep their written order; `required` is sorted.
 * Fails: throws with the reason when JSON Schema cannot express what valibot checks.
 */
export function deriveSchema(schema: ClosedObjectSchema): JsonSchema7 {
  const known = derivedSchemas.get(schema);
  if (known) return known;
  const derived = derive(schema);
  // A default made anew each time, or a value that JSON cannot hold, would give two schemas to one
  // version.
  if (toCanonicalJson(derived) !== toCanonicalJson(derive(schema))) {
    throw new Error("derives to another schema every time; use constant defaults");
  }
  derivedSchemas.set(schema, derived);
  return derived;
}

/** The test of contracts registers each contract many times. */
const derivedSchemas = new WeakMap<ClosedObjectSchema, JsonSchema7>();

/** Metadata that only annotates. Other metadata would be a schema written by hand. */
const METADATA: ReadonlySet<string> = new Set(["title", "description", "examples"]);

function derive(schema: ClosedObjectSchema): JsonSchema7 {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: "draft-07",
    overrideAction({ valibotAction }) {
      if (valibotAction.type !== "metadata" || !("metadata" in valibotAction)) return null;
      const keys = Object.keys(valibotAction.metadata as object);
      const foreign = keys.find((key) => !METADATA.has(key));
      if (foreign !== undefined) {
        throw new Error(`metadata ${foreign} is a schema by hand; use a valibot action instead`);
      }
      return null;
    },
  });
  // A copy, because the derived schema shares its lists with the valibot schema.
  return sortRequired(JSON.parse(JSON.stringify(rest)) as JsonObject);
}

function sortRequired(schema: JsonObject): JsonObject {
  const { properties, items, anyOf } = schema;
  const required = schema["required"] as readonly string[] | undefined;
  return {
    ...schema,
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, sortBelow(field)]),
      ),
    }),
    ...(required && { required: sorted(required) }),
    ...(items !== undefined && { items: sortBelow(items) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map(sortBelow) }),
  };
}

function sortBelow(schema: JsonValue): JsonValue {
  return isJsonObject(schema) ? sortRequired(schema) : schema;
}
