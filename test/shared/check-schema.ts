/** A schema of an answer in the document of the API. */
export interface AnswerSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly AnswerSchema[];
  readonly allOf?: readonly AnswerSchema[];
  readonly properties?: Readonly<Record<string, AnswerSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | AnswerSchema;
  readonly items?: AnswerSchema;
  readonly prefixItems?: readonly AnswerSchema[];
}

/** Nothing else is in the schemas that scripts/openapi/schemas-of-types.ts writes. */
const KEYWORDS = new Set(
  (
    "$ref type const enum anyOf allOf properties required additionalProperties items " +
    "prefixItems minItems maxItems description"
  ).split(" "),
);

/**
 * Tells what of a JSON value a schema does not allow, by JSON pointer; undefined when it allows all
 * of it. Inside workerd no validator can be compiled, so this one reads the schema.
 */
export function findMismatch(
  value: unknown,
  schema: AnswerSchema,
  components: Readonly<Record<string, AnswerSchema>>,
  pointer = "",
): string | undefined {
  const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
  if (unknown !== undefined) throw new Error(`The checker of answers does not know ${unknown}.`);
  const below = (part: unknown, of: AnswerSchema, name?: string): string | undefined =>
    findMismatch(part, of, components, name === undefined ? pointer : `${pointer}/${name}`);
  const { $ref, anyOf, allOf = [] } = schema;
  if ($ref !== undefined) {
    const target = components[$ref.replace("#/components/schemas/", "")];
    if (!target) throw new Error(`There is no ${$ref}.`);
    return below(value, target);
  }
  if (anyOf) {
    const found = anyOf.map((one) => below(value, one));
    // The alternative that fits best failed the deepest.
    const deepest = found.toSorted((a = "", b = "") => b.length - a.length)[0];
    return found.includes(undefined) ? undefined : deepest;
  }
  for (const one of allOf) {
    const found = below(value, one);
    if (found !== undefined) return found;
  }
  if ("const" in schema && value !== schema.const)
    return `${pointer}: is not ${JSON.stringify(schema.const)}`;
  if (schema.enum && !schema.enum.includes(value)) return `${pointer}: has no such value`;
  if (schema.type !== undefined && typeOf(value) !== schema.type) {
    return `${pointer}: is no ${schema.type}`;
  }
  if (Array.isArray(value)) {
    const { prefixItems, items } = schema;
    return firstOf(value, (item, at) => {
      const of = prefixItems?.[at] ?? items;
      return of && below(item, of, `${at}`);
    });
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { properties = {}, required = [], additionalProperties = true } = schema;
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `${pointer}/${missing}: is missing`;
  return firstOf(Object.entries(value), ([name, field]) => {
    const of = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (of === false) return `${pointer}/${name}: is not described`;
    return typeof of === "object" ? below(field, of, name) : undefined;
  });
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function firstOf<Item>(
  items: readonly Item[],
  find: (item: Item, at: number) => string | undefined,
): string | undefined {
  for (const [at, item] of items.entries()) {
    const found = find(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
