import { toJsonSchema } from "@valibot/to-json-schema";
import { toCanonicalJson } from "../protocol/json/canonical-hash.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json/value.ts";
import type { JsonSchema7 } from "../protocol/tool/spec.ts";
import { sorted } from "./sorted.ts";
import type { ClosedObjectSchema } from "./definition.ts";

/**
 * Derives a JSON Schema from a valibot schema, the only way one is made (seeds/000 #13, #14).
 * Contract: the same to the byte every time; fields keep the order they were written in, `required` is
 * sorted. Fails: throws with the reason when valibot checks what JSON Schema cannot say.
 */
export function deriveSchema(schema: ClosedObjectSchema): JsonSchema7 {
  const derived = derive(schema);
  // A default that is made anew each time, and what JSON cannot carry, would make two of one version.
  if (toCanonicalJson(derived) !== toCanonicalJson(derive(schema))) {
    throw new Error("derives to another schema every time");
  }
  return derived;
}

/** Metadata that is annotation; anything else there would be a schema written by hand. */
const METADATA: ReadonlySet<string> = new Set(["title", "description", "examples"]);

function derive(schema: ClosedObjectSchema): JsonSchema7 {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: "draft-07",
    overrideAction({ valibotAction }) {
      if (valibotAction.type !== "metadata" || !("metadata" in valibotAction)) return null;
      const keys = Object.keys(valibotAction.metadata as object);
      const foreign = keys.find((key) => !METADATA.has(key));
      if (foreign !== undefined) throw new Error(`metadata ${foreign} is a schema by hand`);
      return null;
    },
  });
  // A copy: what valibot derives shares its lists with the schema.
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
