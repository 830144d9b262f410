import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";

/** A compiled allowlist: the fields that stay whole, and the fields to look into. */
export interface Allowlist {
  readonly [field: string]: Allowlist | true;
}

/** Compiles dotted paths (`a.b`, `items.*.name`). A path to an object keeps the whole object. */
export function compileAllowlist(paths: readonly string[]): Allowlist {
  const root: Record<string, Allowlist | true> = Object.create(null);
  for (const path of paths) insert(root, path.split("."));
  return root;
}

function insert(node: Record<string, Allowlist | true>, [head, ...rest]: readonly string[]): void {
  if (head === undefined || node[head] === true) return;
  if (rest.length === 0) {
    node[head] = true;
    return;
  }
  const below: Record<string, Allowlist | true> = { ...node[head] };
  Object.setPrototypeOf(below, null);
  insert(below, rest);
  node[head] = below;
}

/**
 * Keeps the allowlisted fields of an object and drops every other field (seeds/000 #4).
 * Contract: pure and deterministic; it does not change its input.
 */
export function redact(value: JsonObject, allowlist: Allowlist): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const [field, rule] of Object.entries(allowlist)) {
    if (!Object.hasOwn(value, field)) continue;
    const child = value[field];
    if (child === undefined) continue;
    const reduced = rule === true ? child : redactValue(child, rule);
    if (reduced !== undefined) kept[field] = reduced;
  }
  return kept;
}

function redactValue(value: JsonValue, allowlist: Allowlist): JsonValue | undefined {
  if (isJsonObject(value)) return redact(value, allowlist);
  const each = allowlist["*"];
  if (!Array.isArray(value) || each === undefined) return undefined;
  if (each === true) return value;
  return value.flatMap((item: JsonValue) => {
    const reduced = redactValue(item, each);
    return reduced === undefined ? [] : [reduced];
  });
}
