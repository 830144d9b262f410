import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/json/value.ts";
import { compareFields } from "./compare-fields.ts";
import { compareKeyword } from "./compare-keyword.ts";
import type { SchemaDifference, SchemaPair } from "./schema-difference.ts";

const FIELD_KEYWORDS: ReadonlySet<string> = new Set(["properties", "required"]);
const NESTED_KEYWORDS: ReadonlySet<string> = new Set(["items", "additionalProperties"]);

/**
 * Compares two JSON Schemas that differ, keyword by keyword.
 * Contract: pure. Each keyword only ever restricts, so the later schema accepts all that the
 * earlier one did when no difference is `narrower` or `other`, and nothing more when none is
 * `wider` or `other`. A keyword that it does not know counts as `other`.
 */
export function compareSchemas(pair: SchemaPair): readonly SchemaDifference[] {
  const before = unwrapNullable(pair.before);
  const after = unwrapNullable(pair.after);
  const inner: SchemaPair = {
    ...pair,
    before: before.schema,
    after: after.schema,
    path: after.isNullable ? [...pair.path, "anyOf", "0"] : pair.path,
  };
  if (before.isNullable === after.isNullable && isDeepStrictEqual(inner.before, inner.after)) {
    return [{ ...pair, effect: "wording", what: "said in another way" }];
  }
  const nullable = compareNullable(pair, before.isNullable, after.isNullable);
  const keywords = new Set([...Object.keys(inner.before), ...Object.keys(inner.after)]);
  const rest = [...keywords].filter((keyword) => !FIELD_KEYWORDS.has(keyword));
  return [
    ...nullable,
    ...compareFields(inner, compareSchemas),
    ...rest.flatMap((keyword) =>
      NESTED_KEYWORDS.has(keyword) ? compareNested(keyword, inner) : compareKeyword(keyword, inner),
    ),
  ];
}

/** Unwraps `anyOf: [X, {type: "null"}]`, which means nullable in the supported subset. */
function unwrapNullable(schema: JsonObject): { schema: JsonObject; isNullable: boolean } {
  const { anyOf, ...outer } = schema;
  const [inner, other, ...more] = Array.isArray(anyOf) ? (anyOf as readonly JsonValue[]) : [];
  const isPair =
    isJsonObject(inner) && isDeepStrictEqual(other, { type: "null" }) && more.length === 0;
  const isPlain = Object.keys(outer).every((keyword) => BESIDE_ANY_OF.has(keyword));
  return isPair && isPlain
    ? { schema: { ...inner, ...outer }, isNullable: true }
    : { schema, isNullable: false };
}

/** Another keyword beside the pair would apply to null as well. */
const BESIDE_ANY_OF: ReadonlySet<string> = new Set(["default", "title", "description", "examples"]);

function compareNullable(
  { path, before, after }: SchemaPair,
  wasNullable: boolean,
  isNullable: boolean,
): readonly SchemaDifference[] {
  if (wasNullable === isNullable) return [];
  const effect = isNullable ? "wider" : "narrower";
  const what = isNullable ? "null is allowed now" : "null is no longer allowed";
  return [{ path, before, after, effect, what }];
}

/** Compares the schemas of items, or of additional fields. An absent schema accepts all values. */
function compareNested(keyword: string, pair: SchemaPair): readonly SchemaDifference[] {
  const before = pair.before[keyword];
  const after = pair.after[keyword];
  const path = [...pair.path, keyword];
  if (isDeepStrictEqual(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) return compareSchemas({ path, before, after });
  const difference = { path, before, after };
  if (Array.isArray(before) || Array.isArray(after)) {
    return [{ ...difference, effect: "other", what: `${keyword} changed` }];
  }
  const isNarrower = opennessOf(after) < opennessOf(before);
  return opennessOf(after) === opennessOf(before)
    ? [{ ...difference, effect: "wording", what: `${keyword} says the same in another way` }]
    : [
        {
          ...difference,
          effect: isNarrower ? "narrower" : "wider",
          what: isNarrower ? `${keyword} restricted` : `${keyword} opened`,
        },
      ];
}

function opennessOf(schema: JsonValue | undefined): number {
  if (schema === false) return 0;
  return schema === undefined || schema === true ? 2 : 1;
}
