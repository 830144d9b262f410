import type { FilePart, KeptFile, UserPart } from "./file-part.ts";
import type { TranscriptMessage } from "./message.ts";

function filePartsOf(messages: readonly TranscriptMessage[]): readonly FilePart[] {
  return messages.flatMap((message) =>
    message.role === "user" ? (message.parts ?? []).filter((part) => part.type !== "text") : [],
  );
}

/** Lists the kept files of a conversation, each hash once; the first one counts. */
export function keptFilesOf(messages: readonly TranscriptMessage[]): ReadonlyMap<string, KeptFile> {
  const kept = new Map<string, KeptFile>();
  for (const { source } of filePartsOf(messages)) {
    if (source.kind === "kept" && !kept.has(source.hash)) kept.set(source.hash, source);
  }
  return kept;
}

/** Replaces the sources of the files that a map knows. Contract: pure. */
export function replaceSources(
  messages: readonly TranscriptMessage[],
  known: ReadonlyMap<string, KeptFile>,
): readonly TranscriptMessage[] {
  const replace = (part: UserPart): UserPart => {
    if (part.type === "text" || part.source.kind !== "kept") return part;
    return { ...part, source: known.get(part.source.hash) ?? part.source };
  };
  return messages.map((message) =>
    message.role === "user" && message.parts
      ? { ...message, parts: message.parts.map(replace) }
      : message,
  );
}
