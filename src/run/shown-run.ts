import type { FilePart } from "../protocol/conversation/file-part.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type {
  ShownCallPart,
  ShownFile,
  ShownMessage,
  ShownPart,
  ShownRun,
} from "../protocol/conversation/shown.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import { statusOf } from "../protocol/run/state.ts";
import { toIso } from "../protocol/text/iso-time.ts";
import type { StoredRun } from "./stored-run.ts";

/**
 * Shows a run as its person may see it: what was asked, and what the events told. Contract: it
 * holds no arguments and no results but those that readers of the stream got.
 */
export function shownRunOf({
  store,
  journal,
  transcript,
}: Pick<StoredRun, "store" | "journal" | "transcript">): ShownRun {
  const { runId, createdMs, claimedMessages } = store.identity();
  const { reason, error, title, endedMs } = store.progress();
  const asked = transcript.all().slice(0, claimedMessages);
  return {
    runId,
    status: statusOf(reason, store.incarnations().isWaiting),
    ...(reason !== null && { reason }),
    ...(error !== null && { error }),
    ...(title !== null && { title }),
    createdAt: toIso(createdMs),
    ...(endedMs !== null && { endedAt: toIso(endedMs) }),
    messages: [...asked.flatMap(showAsked), ...showAnswer(journal.events())],
  };
}

/** Instructions, tool results that a client posted, and notes of the system are left out. */
function showAsked(message: TranscriptMessage): readonly ShownMessage[] {
  const { role } = message;
  if (role === "assistant") return [{ role, text: message.text, isClaimed: true }];
  if (role !== "user") return [];
  const files = (message.parts ?? []).flatMap((part) =>
    part.type === "text" ? [] : [showFile(part)],
  );
  return [{ role, text: message.text, ...(files.length > 0 && { files }) }];
}

function showFile({ type, name, source }: FilePart): ShownFile {
  const { kind } = source;
  return {
    type,
    ...(name !== undefined && { name }),
    ...(kind === "kept" && { mediaType: source.mediaType, bytes: source.bytes }),
    ...(kind === "address" && { url: source.url }),
  };
}

/** Reads the parts of an answer; a message that was sent meanwhile begins a new one. */
function showAnswer(events: Iterable<AiEvent>): readonly ShownMessage[] {
  const said: { readonly before: number; readonly text: string; readonly messageId?: string }[] =
    [];
  const parts = new Map<number, ShownPart>();
  let next = 0;
  for (const event of events) {
    if (event.type === "user_message") {
      const { type: _type, ...message } = event;
      said.push({ before: next, ...message });
    } else if (event.type === "text_withdrawn") for (const part of event.parts) parts.delete(part);
    else if ("part" in event) {
      const changed = change(parts.get(event.part), event);
      if (changed) parts.set(event.part, changed);
      next = Math.max(next, event.part + 1);
    }
  }
  const messages: ShownMessage[] = [];
  let from = 0;
  for (const { before, ...message } of [...said, { before: next, text: "" }]) {
    const shown = [...parts].flatMap(([part, one]) => (part >= from && part < before ? [one] : []));
    if (shown.length > 0) messages.push({ role: "assistant", parts: shown });
    if (message.text !== "") messages.push({ role: "user", ...message });
    from = before;
  }
  return messages;
}

type PartEvent = Extract<AiEvent, { readonly part: number }>;

function change(known: ShownPart | undefined, event: PartEvent): ShownPart | undefined {
  const { type } = event;
  if (type === "text_started") return { type: "text", text: "" };
  if (type === "reasoning_started") return { type: "reasoning", text: "" };
  if (type === "tool_call_proposed") {
    const { toolCallId, toolName } = event;
    return { type: "tool-call", toolCallId, toolName };
  }
  if (type === "text_delta" || type === "reasoning_delta") {
    return known && "text" in known ? { ...known, text: known.text + event.text } : known;
  }
  return known?.type === "tool-call" ? { ...known, ...changeOfCall(event) } : known;
}

/** What an event tells of a call. */
function changeOfCall(event: PartEvent): Partial<ShownCallPart> {
  const { type } = event;
  if (type === "tool_call_start") return { args: event.args };
  if (type === "approval_requested") {
    const { approval, lines, packet } = event;
    return { approval, lines, args: packet.arguments.shown };
  }
  if (type === "approval_updated") return { approval: event.approval };
  if (type !== "tool_call_result") return {};
  const { observation: result, content, details } = event;
  return { result, ...(content && { content }), ...(details && { details }) };
}
