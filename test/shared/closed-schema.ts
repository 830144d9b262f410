/** The part of JSON Schema that docs/run-trace.schema.json uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** Lists where a value leaves a schema. Inside workerd no validator may compile itself. */
export function faultsIn(root: Schema, value: unknown): readonly string[] {
  const follow = (one: Schema): Schema =>
    one.$ref === undefined ? one : (root.$defs?.[one.$ref.split("/").at(-1) ?? ""] ?? {});
  const look = (schema: Schema, at: string, found: unknown): readonly string[] => {
    const { type = [], enum: allowed, required = [], properties, items, ...rest } = follow(schema);
    const types = [type].flat();
    const isRight = types.length === 0 || types.includes(typeOf(found));
    if (!isRight || (allowed && !allowed.includes(found))) return [`${at} is ${typeOf(found)}`];
    if (Array.isArray(found))
      return items ? found.flatMap((one, i) => look(items, `${at}/${i}`, one)) : [];
    if (typeof found !== "object" || found === null) return [];
    return [
      ...required
        .filter((name) => !Object.hasOwn(found, name))
        .map((name) => `${at}/${name} lacks`),
      ...Object.entries(found).flatMap(([name, one]) => {
        const known = properties?.[name];
        if (known) return look(known, `${at}/${name}`, one);
        return rest.additionalProperties === false ? [`${at}/${name} is unknown`] : [];
      }),
    ];
  };
  return look(root, "", value);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}
