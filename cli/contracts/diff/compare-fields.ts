import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/json/value.ts";
import type { CompareSchemas, SchemaDifference, SchemaPair } from "./schema-difference.ts";

/**
 * Compares the fields of two object schemas: removed, renamed, new, changed, required or optional.
 * Contract: pure. A removed field is never only `narrower`, because its readers miss it.
 */
export function compareFields(
  pair: SchemaPair,
  compareSchemas: CompareSchemas,
): readonly SchemaDifference[] {
  const before = fieldsOf(pair.before);
  const after = fieldsOf(pair.after);
  const gone = [...before.schemas.keys()].filter((name) => !after.schemas.has(name));
  const fresh = [...after.schemas.keys()].filter((name) => !before.schemas.has(name));
  const kept = [...after.schemas.keys()].filter((name) => before.schemas.has(name));
  const renamed = matchRenamed(gone, fresh, { before, after });
  const at = (name: string): readonly string[] => [...pair.path, "properties", name];
  return [
    ...gone.map((name): SchemaDifference => {
      const match = renamed.get(name);
      const what = match === undefined ? "field removed" : "field renamed";
      return { path: at(name), effect: "other", what, before: name, after: match };
    }),
    ...fresh
      .filter((name) => ![...renamed.values()].includes(name))
      .map((name) => describeNew(at(name), name, { before, after })),
    ...kept.flatMap((name) => {
      const fields = {
        path: at(name),
        before: before.schemas.get(name),
        after: after.schemas.get(name),
      };
      const isOptionalNow = before.required.has(name) && !after.required.has(name);
      return compareField(fields, isOptionalNow, compareSchemas);
    }),
    ...compareRequired(pair, new Set([...gone, ...fresh])),
  ];
}

interface Fields {
  readonly schemas: ReadonlyMap<string, JsonValue>;
  readonly required: ReadonlySet<JsonValue>;
  /** Fields without a name are refused. */
  readonly isClosed: boolean;
}

interface BothFields {
  readonly before: Fields;
  readonly after: Fields;
}

function fieldsOf({ properties, required, additionalProperties }: JsonObject): Fields {
  return {
    schemas: new Map(isJsonObject(properties) ? Object.entries(properties) : []),
    required: new Set(Array.isArray(required) ? (required as readonly JsonValue[]) : []),
    isClosed: additionalProperties === false,
  };
}

/** A removed field and a new field with the same schema are most likely a rename. */
function matchRenamed(
  gone: readonly string[],
  fresh: readonly string[],
  { before, after }: BothFields,
): ReadonlyMap<string, string> {
  const free = new Set(fresh);
  const renamed = new Map<string, string>();
  for (const name of gone) {
    const match = [...free].find((other) =>
      isDeepStrictEqual(before.schemas.get(name), after.schemas.get(other)),
    );
    if (match === undefined) continue;
    free.delete(match);
    renamed.set(name, match);
  }
  return renamed;
}

function describeNew(
  path: readonly string[],
  name: string,
  { before, after }: BothFields,
): SchemaDifference {
  const difference = { path, before: undefined, after: after.schemas.get(name) };
  if (after.required.has(name)) {
    return { ...difference, effect: "other", what: "a new field is required" };
  }
  // An open object accepted the field before, with any value.
  return { ...difference, effect: before.isClosed ? "wider" : "other", what: "a new field" };
}

function compareField(
  { path, before, after }: Omit<SchemaDifference, "effect" | "what">,
  isOptionalNow: boolean,
  compareSchemas: CompareSchemas,
): readonly SchemaDifference[] {
  if (isDeepStrictEqual(before, after)) return [];
  return isJsonObject(before) && isJsonObject(after)
    ? compareSchemas({ path, before, after, isOptionalNow })
    : [{ path, before, after, effect: "other", what: "schema changed" }];
}

/** New and removed fields already say whether they are required. */
function compareRequired(
  pair: SchemaPair,
  told: ReadonlySet<JsonValue>,
): readonly SchemaDifference[] {
  const [before, after] = [pair.before["required"], pair.after["required"]];
  if (isDeepStrictEqual(before, after)) return [];
  const path = [...pair.path, "required"];
  const { required: old } = fieldsOf(pair.before);
  const { required: current } = fieldsOf(pair.after);
  const changed = [...new Set([...old, ...current])].filter(
    (name) => old.has(name) !== current.has(name),
  );
  if (changed.length === 0) {
    return [{ path, before, after, effect: "wording", what: "order of the required fields" }];
  }
  return changed
    .filter((name) => !told.has(name))
    .map((name) => {
      const effect = current.has(name) ? "narrower" : "wider";
      const what = current.has(name) ? "required now" : "no longer required";
      return { path, before, after, effect, what: `${JSON.stringify(name)} is ${what}` };
    });
}
