import { toPointer } from "../../src/protocol/json/pointer.ts";
import type { JsonValue } from "../../src/protocol/json/value.ts";

/** Whether those who use a contract notice: breaking changes need a new version. */
export type ChangeKind = "breaking" | "compatible";

/** One difference between two contracts, in words. */
export interface ContractChange {
  readonly kind: ChangeKind;
  /** JSON pointer into the published contract. */
  readonly pointer: string;
  readonly sentence: string;
}

/** Two values that differ, and where; undefined stands for a field that is not there. */
export interface Difference {
  readonly path: readonly string[];
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** How a difference is judged, and what it means for those who use the contract. */
export interface Verdict {
  readonly kind: ChangeKind;
  readonly what: string;
}

/** Words a difference as `<pointer>: <what>: <old> -> <new>`. */
export function toChange(
  { path, before, after }: Difference,
  { kind, what }: Verdict,
): ContractChange {
  const pointer = toPointer(path);
  return { kind, pointer, sentence: `${pointer}: ${what}: ${show(before)} -> ${show(after)}` };
}

/** Long texts differ somewhere in the middle; the pointer says where to look. */
const MAX_SHOWN_CHARS = 120;

function show(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}
