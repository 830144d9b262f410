import { formatPath } from "../text/field-label.ts";
import { fromPointer, memberOf } from "../json/pointer.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";

/**
 * Labels the fields of an object for people: `/to/bankName` becomes "To › Bank name".
 * Threat: a stranger names a field so that its label looks like another one. So a label that two
 * fields would share, or whose field has a name of other characters, is the pointer itself.
 * Contract: pure; different pointers get different labels.
 */
export function labelFields(object: JsonObject, pointers: readonly string[]): readonly string[] {
  const labels = pointers.map((pointer) => labelOf(object, pointer));
  const groups = Map.groupBy(labels, (label) => label);
  return labels.map((label, at) =>
    groups.get(label)?.length === 1 ? label : (pointers[at] ?? ""),
  );
}

const PLAIN_KEY = /^[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*$/;

function labelOf(object: JsonObject, pointer: string): string {
  const path: string[] = [];
  let at: JsonValue | undefined = object;
  for (const key of fromPointer(pointer)) {
    const isItem = Array.isArray(at);
    if (!isItem && !PLAIN_KEY.test(key)) return pointer;
    path.push(isItem ? String(Number(key) + 1) : key);
    at = memberOf(at, key);
  }
  return formatPath(path);
}
