import { isAskedHere } from "../../protocol/approval/asked-here.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";
import { formatEventId } from "../../protocol/run/event-id.ts";
import { encodeUiEvent, frameChunks, type UiChunk } from "./encode-event.ts";
import { uiMessageWire } from "./wire.ts";

/**
 * The UI message stream of the AI SDK 6. Its client ends a chat at a chunk that it does not know:
 * it knows neither `reset-step` nor `tool-approval-response`.
 * Source: ai 6.0.325, uiMessageChunkSchema.
 */
export const uiMessage6Wire: ClientWire = {
  ...uiMessageWire,
  name: "ui-message-6",
  encode(entry, run) {
    const { event, position } = entry;
    // The client knows its own decision, and the outcome of the call tells that of others.
    if (event.type === "approval_updated" && isAskedHere(event.approval)) return "";
    if (event.type !== "text_withdrawn") return encodeUiEvent(entry, run);
    const at = formatEventId(position);
    return frameChunks(sayWithdrawn(`withdrawn-${at}`), { at });
  },
};

/** What was sent stays sent, so the stream says that it does not count. */
function sayWithdrawn(id: string): readonly UiChunk[] {
  const delta = "\n\n[The text above is withdrawn, and the answer begins again.]\n\n";
  return [
    { type: "text-start", id },
    { type: "text-delta", id, delta },
    { type: "text-end", id },
  ];
}
