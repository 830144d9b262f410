import { cutText, replaceHalves } from "../text/whole-characters.ts";
import { isJsonArray, type JsonValue } from "./value.ts";

/** A pointer repeats keys that a stranger chose, so it is cut. */
const MAX_POINTER_CHARS = 256;

/** Writes a path as a JSON pointer (RFC 6901), cut to 256 UTF-16 code units of whole characters. */
export function toPointer(path: readonly unknown[]): string {
  const pointer = replaceHalves(path.map((key) => pointerPart(String(key))).join(""));
  const head = cutText(pointer, MAX_POINTER_CHARS);
  return head === pointer ? pointer : `${head}…`;
}

/** Writes one key as part of a JSON pointer, with its `/`. */
export function pointerPart(key: string): string {
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * Reads the keys of a JSON pointer. Contract: the inverse of `toPointer`, unless that cut the
 * pointer.
 */
export function fromPointer(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns an own member of an object or a list; undefined when there is none. */
export function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as { readonly [key: string]: JsonValue })[name];
}

/** A value within another one, and the pointer to it. */
export interface Leaf {
  readonly pointer: string;
  readonly value: JsonValue;
}

/** Lists all leaves of a value. Empty lists and objects are leaves too. */
export function* leavesOf(value: JsonValue, pointer = ""): Generator<Leaf> {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length === 0) yield { pointer, value };
  for (const [key, member] of members) {
    yield* leavesOf(member, `${pointer}${pointerPart(key)}`);
  }
}

/** Lists the values that a pointer names; `*` means every item of a list. Others are left out. */
export function* valuesAt(value: JsonValue, pointer: string): Generator<Leaf> {
  yield* walkTo(value, fromPointer(pointer), "");
}

function* walkTo(
  value: JsonValue,
  [key, ...rest]: readonly string[],
  pointer: string,
): Generator<Leaf> {
  if (key === undefined) yield { pointer, value };
  else if (isJsonArray(value)) {
    for (const [at, item] of value.entries()) {
      if (key === "*" || key === String(at)) yield* walkTo(item, rest, `${pointer}/${at}`);
    }
  } else {
    const member = memberOf(value, key);
    if (member !== undefined) yield* walkTo(member, rest, `${pointer}${pointerPart(key)}`);
  }
}
