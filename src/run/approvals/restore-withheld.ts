import { failField } from "../../protocol/outcome/failures.ts";
import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import { fromPointer } from "../../protocol/json/pointer.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";

/**
 * Puts the values that redaction hid from an editor back into the edited arguments. The editor
 * could not see those values, so an edit must not change or drop them.
 * Contract: pure. Fails: SEMANTIC_INVALIDITY when the edit wrote to a hidden field, or removed the
 * object or list that holds the field.
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
      return refuse(pointer, "is hidden from you; keep the object or list that holds it unchanged");
    }
    if (Object.hasOwn(parent, last)) return refuse(pointer, "is hidden from you; do not set it");
    setOwn(parent, last, value);
  }
  return ok(whole as JsonObject);
}

type Mutable = { [name: string]: unknown };

/** An index into a list is valid only while the list keeps its length. */
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

/** Sets an own property. Threat: an assignment to `__proto__` would set the prototype. */
function setOwn(target: Mutable, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value: structuredClone(value) as JsonValue,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function refuse(field: string, message: string): Result<never, ToolFailure> {
  return failField(field, "withheld_field", message);
}
