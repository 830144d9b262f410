import type { JsonObject } from "../../protocol/json/value.ts";
import { nonBlank, readCount } from "../model/event-decoder.ts";

/** By what an event names its item. Servers change, omit or repeat each of these. */
export interface ItemKeys {
  readonly callId: string | undefined;
  readonly itemId: string | undefined;
  readonly outputIndex: number | undefined;
}

/** A message or a call as the stream states it. */
export interface Slot {
  keys: ItemKeys;
  isDone: boolean;
}

/** Reads the keys of an event and of its item. */
export function keysOf(event: JsonObject, item: JsonObject = {}): ItemKeys {
  return {
    callId: nonBlank(item["call_id"]),
    itemId: nonBlank(item["id"]) ?? nonBlank(event["item_id"]),
    outputIndex: readCount(event["output_index"]),
  };
}

/**
 * Finds the slot that an event continues: by call id, by item id, then by output index. An event
 * without any key continues the newest slot.
 */
export function findSlot<Some extends Slot>(
  slots: readonly Some[],
  keys: ItemKeys,
): Some | undefined {
  const { callId, itemId, outputIndex } = keys;
  const withItem = (slot: Some): boolean => itemId !== undefined && slot.keys.itemId === itemId;
  const isAt = (slot: Some): boolean => slot.keys.outputIndex === outputIndex;
  return (
    (callId === undefined
      ? undefined
      : slots.findLast(({ keys: known }) => known.callId === callId)) ??
    slots.findLast((slot) => withItem(slot) && isAt(slot)) ??
    slots.findLast(withItem) ??
    (outputIndex === undefined
      ? itemId === undefined && callId === undefined
        ? slots.at(-1)
        : undefined
      : slots.findLast(isAt))
  );
}

/** True when both name the same item for sure: a new item of a server may repeat single keys. */
export function haveSameKeys(a: ItemKeys, b: ItemKeys): boolean {
  const sameCall = isEqual(a.callId, b.callId);
  const samePlace = isEqual(a.outputIndex, b.outputIndex);
  if (sameCall !== undefined || samePlace === false) return sameCall ?? false;
  return isEqual(a.itemId, b.itemId) ?? samePlace ?? false;
}

function isEqual<Value>(a: Value | undefined, b: Value | undefined): boolean | undefined {
  return a === undefined || b === undefined ? undefined : a === b;
}
