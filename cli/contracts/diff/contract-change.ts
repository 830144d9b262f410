import { toPointer } from "../../../src/protocol/json/pointer.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";

/** Whether users of a contract notice a change. Breaking changes need a new version. */
export type ChangeKind = "breaking" | "compatible";

/** One difference between two contracts, as text. */
export interface ContractChange {
  readonly kind: ChangeKind;
  /** JSON pointer into the published contract. */
  readonly pointer: string;
  readonly sentence: string;
}

/** Two different values and their place. Undefined stands for a missing field. */
export interface Difference {
  readonly path: readonly string[];
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** Severity of a difference, and its meaning for users of the contract. */
export interface Verdict {
  readonly kind: ChangeKind;
  readonly what: string;
}

/** Formats a difference as `<pointer>: <what>: <old> -> <new>`. */
export function toChange(
  { path, before, after }: Difference,
  { kind, what }: Verdict,
): ContractChange {
  const pointer = toPointer(path);
  return { kind, pointer, sentence: `${pointer}: ${what}: ${show(before)} -> ${show(after)}` };
}

/** Shortens a long text. The pointer says where to look. */
const MAX_SHOWN_CHARS = 120;

function show(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}
