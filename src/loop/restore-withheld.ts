import type { JsonObject, JsonValue } from "../protocol/json/value.ts";
import { fromPointer } from "../protocol/json/pointer.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";

/**
 * Puts what redaction withheld from an editor back into what they wrote: they could not see it, so they
 * neither change nor lose it.
 * Contract: pure. Fails: SEMANTIC_INVALIDITY where they wrote to such a place, or took away what it stands in.
 */
export function restoreWithheld(
  edited: JsonObject,
  original: JsonObject,
  withheld: readonly string[],
): Result<JsonObject, ToolFailure> {
  const whole = structuredClone(edited) as Mutable;
  for (const pointer of withheld) {
    const path = fromPointer(pointer);
    const last = path.at(-1);
    const value = valueAt(original, path);
    const parent = parentOf(whole, path);
    if (
      last === undefined ||
      value === undefined ||
      !parent ||
      !isSameShape(parent, parentOf(original, path))
    ) {
      return refuse(pointer, "holds what you cannot see; leave what it stands in as it is");
    }
    if (Object.hasOwn(parent, last)) return refuse(pointer, "holds what you cannot see or change");
    setOwn(parent, last, value);
  }
  return ok(whole as JsonObject);
}

type Mutable = { [name: string]: unknown };

/** A place in a list means something only as long as the list does. */
function isSameShape(a: Mutable, b: Mutable | undefined): boolean {
  return Array.isArray(a) ? Array.isArray(b) && a.length === b.length : !Array.isArray(b);
}

function parentOf(value: unknown, path: readonly string[]): Mutable | undefined {
  const parent = valueAt(value, path.slice(0, -1));
  return typeof parent === "object" && parent !== null ? (parent as Mutable) : undefined;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at: unknown = value;
  for (const name of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Mutable)[name];
  }
  return at;
}

/** An assignment to `__proto__` would be none. */
function setOwn(target: Mutable, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value: structuredClone(value) as JsonValue,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function refuse(field: string, message: string): Result<never, ToolFailure> {
  const errors = [{ field, code: "withheld_field", message }];
  return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors });
}
