import type { ShownStates } from "../approval/packet.ts";
import { toMillionths } from "../budget/millionths.ts";
import { fromPointer, memberOf } from "../json/pointer.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import type { MovedMoney } from "../policy/approval-rule.ts";

/**
 * Where the money stands that a call moves: a JSON pointer into the arguments, or into what the
 * contract's preview answers, `{before, after}`.
 */
export type AmountField = string | { readonly preview: string };

/** Where a call may tell how much money it moves. The state is absent before it is read. */
export interface AmountSource {
  readonly args: JsonObject;
  readonly previewed?: ShownStates | undefined;
}

/** Reads how much money a call moves. Contract: pure. */
export function readMoved(field: AmountField | undefined, source: AmountSource): MovedMoney {
  if (field === undefined) return "none";
  const amount = readAmount(field, source);
  return typeof amount === "number" ? amount : "unknown";
}

/**
 * Reads the amount that a field holds: `missing` where there is no such field, and `unreadable`
 * where it holds something else than an amount.
 */
export function readAmount(
  field: AmountField,
  { args, previewed }: AmountSource,
): number | "missing" | "unreadable" {
  const states = { before: previewed?.beforeState ?? null, after: previewed?.afterState ?? null };
  const [of, pointer]: [JsonValue, string] =
    typeof field === "string" ? [args, field] : [states, field.preview];
  let value: JsonValue | undefined = of;
  for (const key of fromPointer(pointer)) value = memberOf(value, key);
  if (value === undefined) return "missing";
  if (typeof value !== "number" || value < 0) return "unreadable";
  return Number.isSafeInteger(toMillionths(value)) ? value : "unreadable";
}
