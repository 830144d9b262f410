// Uses the valibot of the root, not of the bench, so that the contract and the AI SDK share one
// schema.
import * as v from "valibot";

const BYTES_PER_KIB = 1_024;

/**
 * Input that both contenders validate: texts, a choice, whole numbers and a list of small objects.
 */
export const orderInput = v.strictObject({
  customer: v.pipe(v.string(), v.minLength(1), v.maxLength(64), v.description("Customer id.")),
  channel: v.pipe(v.picklist(["web", "phone", "store"]), v.description("Where it was ordered.")),
  priority: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)),
  note: v.pipe(v.string(), v.maxLength(256), v.description("Words for the warehouse.")),
  items: v.array(
    v.strictObject({
      sku: v.pipe(v.string(), v.minLength(1), v.maxLength(32)),
      quantity: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000)),
      isGift: v.boolean(),
    }),
  ),
});

/** Output of every call. */
export const ORDER = { orderId: "order-1", status: "placed" } as const;

export const DESCRIPTION = "Places an order. It does not change an order that was placed before.";

/** Makes valid arguments of exactly that size. Each serial number gives different arguments. */
export function makeArguments(sizeKib: number, serial: number): string {
  const order = (items: readonly object[], note: string): string =>
    JSON.stringify({ customer: `customer-${serial}`, channel: "phone", priority: 3, note, items });
  // One more digit compensates for a shorter literal, so that all items have one length.
  const item = (at: number): object => ({
    sku: `sku-${String(at).padStart(6, "0")}`,
    quantity: (at % 4 === 0 ? 10 : 1) + (at % 9),
    isGift: at % 4 === 0,
  });
  const size = sizeKib * BYTES_PER_KIB;
  const itemChars = JSON.stringify(item(1)).length + 1;
  const items = Array.from({ length: Math.floor((size - 150) / itemChars) }, (_, at) => item(at));
  const missing = size - order(items, "").length;
  const text = order(items, "Leave it at the door. ".repeat(12).slice(0, missing));
  if (text.length !== size) throw new Error(`arguments of ${text.length} bytes instead of ${size}`);
  return text;
}
