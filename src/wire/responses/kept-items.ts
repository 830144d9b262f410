import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import { keepCallsOnce, nonBlank, OpaqueRoom } from "../model/event-decoder.ts";
import { listOf } from "./read-response.ts";

/**
 * Keeps the output items that the provider must see again, verbatim. An item that is sent again is
 * kept once, by its type and id.
 */
export class KeptItems {
  readonly #items: { readonly at: number | undefined; readonly item: JsonObject }[] = [];
  readonly #known = new Set<string>();
  readonly #room = new OpaqueRoom();

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  keep(item: JsonObject, at: number | undefined): void {
    const id = nonBlank(item["id"]);
    const name = JSON.stringify([item["type"], id]);
    if (id !== undefined && this.#known.has(name)) return;
    this.#known.add(name);
    if (this.#room.takeValue(item)) this.#items.push({ at, item });
  }

  /** Lists them in their order; undefined when none is needed, or one of the calls is missing. */
  list(callIds: readonly string[]): readonly JsonObject[] | undefined {
    const indices = new Set(this.#items.map(({ at }) => at));
    const isOrdered = indices.size === this.#items.length && !indices.has(undefined);
    const ordered = isOrdered
      ? this.#items.toSorted((a, b) => Number(a.at) - Number(b.at))
      : this.#items;
    const items = ordered.map(({ item }) => item).filter(isResolvable);
    const isKept = this.#room.isOpen && items.some(isNeeded);
    return isKept ? keepCallsOnce(items, callIds, callIdOf) : undefined;
  }
}

function callIdOf({ type, call_id: id = null }: JsonObject): JsonValue | undefined {
  return type === "function_call" ? id : undefined;
}

/**
 * Tells whether the provider can read an item again. Interlock lets it store nothing, so reasoning
 * must carry its own content.
 */
function isResolvable(item: JsonObject): boolean {
  if (item["type"] !== "reasoning") return true;
  return nonBlank(item["encrypted_content"]) !== undefined || listOf(item["content"]).length > 0;
}

/** Tells whether our own message lacks something of the item. */
function isNeeded(item: JsonObject): boolean {
  const { type } = item;
  return (type !== "message" && type !== "function_call") || nonBlank(item["phase"]) !== undefined;
}
