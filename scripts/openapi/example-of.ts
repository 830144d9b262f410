import { EXAMPLE_APPROVAL, EXAMPLE_RUN } from "./parameters.ts";
import type { Schema } from "./schemas-of-types.ts";

/** Lists below this depth are empty, so that an example stays short. */
const MAX_LISTS = 4;
const TIME = "2026-11-20T20:00:00.000Z";

/** Texts by the end of the name of their field. */
const TEXTS: readonly (readonly [end: RegExp, text: string])[] = [
  [/(?:^a|A)pprovalId$/, EXAMPLE_APPROVAL],
  [/(?:run|conversation|head|parent)Id$/i, EXAMPLE_RUN],
  [/invocationId$/i, "inv_1"],
  [/toolCallId$/i, "call_1"],
  [/(?:tool|toolId|name)$/i, "core__calculate"],
  [/version$/i, "1.0.0"],
  [/(?:actor|person|approver|minter|subject)(?:Id)?$|By$/i, "user:ann"],
  [/(?:At|Until|^at|^until|timestamp)$/, TIME],
  [/(?:Hash|^hash|^recorded|^replayed)$/i, `sha256:${"0".repeat(64)}`],
  [/title$/i, "A call with Tokyo"],
  [/^model$/, "gpt-6.1-terra"],
  [/href$/, `/v1/approvals/${EXAMPLE_APPROVAL}`],
  [/pointer$/, "/allowedTools/0"],
];

/**
 * Makes a short example of an answer: what it always has, with one entry in each list. The linter
 * of the document holds the example to the schema.
 */
export function exampleOf(schema: Schema, components: ReadonlyMap<string, Schema>): unknown {
  const make = (one: Schema, name: string, depth: number): unknown => {
    const { $ref, anyOf, enum: values, type, prefixItems } = one;
    if (typeof $ref === "string") {
      const target = $ref.replace("#/components/schemas/", "");
      if (target === "JsonValue") return "text";
      return make(components.get(target) ?? {}, name, depth);
    }
    if ("const" in one) return one["const"];
    if (Array.isArray(values)) return values[0];
    if (Array.isArray(anyOf)) return make(anyOf[0] as Schema, name, depth);
    if (Array.isArray(prefixItems))
      return prefixItems.map((item: Schema) => make(item, name, depth));
    if (type === "array") return depth > MAX_LISTS ? [] : [make(itemOf(one), name, depth + 1)];
    if (type === "object") return makeObject(one, (field, key) => make(field, key, depth + 1));
    if (type === "string") return TEXTS.find(([end]) => end.test(name))?.[1] ?? "text";
    if (type === "number") return 1;
    return type === "boolean" ? true : null;
  };
  return make(schema, "", 0);
}

function itemOf({ items }: Schema): Schema {
  return (items ?? {}) as Schema;
}

function makeObject(
  { properties = {}, required = [] }: Schema,
  make: (field: Schema, name: string) => unknown,
): object {
  const fields = properties as Readonly<Record<string, Schema>>;
  const names = (required as readonly string[]).filter((name) => fields[name]);
  return Object.fromEntries(names.map((name) => [name, make(fields[name] ?? {}, name)]));
}
