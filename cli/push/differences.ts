import { toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import { memberOf, pointerPart } from "../../src/protocol/json/pointer.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../../src/protocol/json/value.ts";

/** One field in which two documents differ. An absent side does not have it. */
export interface Difference {
  /** JSON pointer. For an item of a list it points to the list. */
  readonly pointer: string;
  readonly from?: JsonValue;
  readonly to?: JsonValue;
}

/**
 * Lists the fields in which two documents differ. Of lists it tells the items that came and went;
 * a list in which only the order differs is shown whole.
 * Contract: pure; equal documents give an empty list.
 */
export function listDifferences(
  from: JsonValue | undefined,
  to: JsonValue | undefined,
  pointer = "",
): readonly Difference[] {
  if (from === undefined || to === undefined) {
    const sides = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    return from === to ? [] : [{ pointer, ...sides }];
  }
  if (toCanonicalJson(from) === toCanonicalJson(to)) return [];
  if (isJsonObject(from) && isJsonObject(to)) {
    const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
    return names.flatMap((name) =>
      listDifferences(memberOf(from, name), memberOf(to, name), `${pointer}${pointerPart(name)}`),
    );
  }
  const items = isJsonArray(from) && isJsonArray(to) ? listItems(from, to, pointer) : [];
  return items.length > 0 ? items : [{ pointer, from, to }];
}

function listItems(
  from: readonly JsonValue[],
  to: readonly JsonValue[],
  pointer: string,
): readonly Difference[] {
  return [
    ...without(from, to).map((item) => ({ pointer, from: item })),
    ...without(to, from).map((item) => ({ pointer, to: item })),
  ];
}

/** The items of a list that another list does not have, as often as they are too many. */
function without(items: readonly JsonValue[], others: readonly JsonValue[]): readonly JsonValue[] {
  const rest = others.map(toCanonicalJson);
  return items.filter((item) => {
    const at = rest.indexOf(toCanonicalJson(item));
    if (at !== -1) rest.splice(at, 1);
    return at === -1;
  });
}
