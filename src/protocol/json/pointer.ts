import type { JsonValue } from "./value.ts";

/** A pointer repeats keys that somebody else chose, so it is cut. */
const MAX_POINTER_CHARS = 256;

/** Writes a path as a JSON pointer (RFC 6901), cut to a bounded length. */
export function toPointer(path: readonly unknown[]): string {
  const pointer = path.map((key) => `/${escapeToken(String(key))}`).join("");
  return pointer.length > MAX_POINTER_CHARS ? `${pointer.slice(0, MAX_POINTER_CHARS)}…` : pointer;
}

function escapeToken(token: string): string {
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Reads the keys of a JSON pointer. Contract: the inverse of `toPointer`, as far as that cuts nothing. */
export function fromPointer(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A value that holds no others, and the pointer to it. */
export interface Leaf {
  readonly pointer: string;
  readonly value: JsonValue;
}

/** Lists the values within a value that hold no others, empty lists and objects included. */
export function* leavesOf(value: JsonValue, pointer = ""): Generator<Leaf> {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length === 0) yield { pointer, value };
  for (const [key, member] of members) {
    yield* leavesOf(member, `${pointer}/${escapeToken(key)}`);
  }
}
