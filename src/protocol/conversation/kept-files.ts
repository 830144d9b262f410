import type { KeptFile, UserPart } from "./file-part.ts";
import type { TranscriptMessage } from "./message.ts";

/** Lists the kept files of a conversation, each hash once; the newest keeper counts. */
export function keptFilesOf(messages: readonly TranscriptMessage[]): ReadonlyMap<string, KeptFile> {
  const kept = new Map<string, KeptFile>();
  for (const part of messages.flatMap(partsOf)) {
    if (part.type !== "text" && part.source.kind === "kept")
      kept.set(part.source.hash, part.source);
  }
  return kept;
}

function partsOf(message: TranscriptMessage): readonly UserPart[] {
  if (message.role === "user") return message.parts ?? [];
  return message.role === "tool" ? (message.content ?? []) : [];
}

/** Replaces the sources of the files that a map knows. Contract: pure. */
export function replaceSources(
  messages: readonly TranscriptMessage[],
  known: ReadonlyMap<string, KeptFile>,
): readonly TranscriptMessage[] {
  const replace = <Part extends UserPart>(part: Part): Part => {
    if (part.type === "text" || part.source.kind !== "kept") return part;
    return { ...part, source: known.get(part.source.hash) ?? part.source };
  };
  return messages.map((message) => {
    if (message.role === "user" && message.parts) {
      return { ...message, parts: message.parts.map(replace) };
    }
    return message.role === "tool" && message.content
      ? { ...message, content: message.content.map(replace) }
      : message;
  });
}
