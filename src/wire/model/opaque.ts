import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { encodedOnce } from "./encoded-once.ts";

/** Finds what a model on a wire must see again of a message. Another model cannot read it. */
export function opaqueItemsFor(
  message: TranscriptMessage,
  reader: { readonly wire: string; readonly model: string },
): readonly JsonObject[] | undefined {
  if (message.role !== "assistant" || !message.opaque) return undefined;
  const { wire, model, items } = message.opaque;
  return wire === reader.wire && model === reader.model ? keepItems(items) : undefined;
}

/** The items are encoded already; only their text is still to be written, once. */
const keepItems = encodedOnce((items: readonly JsonObject[]) => items);

/** Replaces what providers reject: one invented name would fail the whole conversation. */
export function encodeName(name: string): string {
  return name.slice(0, 64).replaceAll(/[^a-zA-Z0-9_-]/g, "_") || "unknown";
}
