import type { FilePart, UserPart } from "../../protocol/conversation/file-part.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import { labelData } from "../../protocol/text/label-data.ts";
import { wrapToolOutput } from "../tool-output.ts";
import type { ModelAbilities } from "../../protocol/model/declaration.ts";

/** Content of kept files in base64, by hash. */
export type FileContents = ReadonlyMap<string, string>;

/** A part of a user message with everything that a wire encodes. */
export type ReadyPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "file";
      readonly name: string;
      /** An https address, or a data address. */
      readonly url: string;
      /** Absent for an address. */
      readonly content?: { readonly mediaType: string; readonly base64: string };
    };

type UserMessage = Extract<TranscriptMessage, { role: "user" }>;
type ToolMessage = Extract<TranscriptMessage, { role: "tool" }>;

/** Lists the parts of a user message. A file whose content is not kept any more becomes a note. */
export function readyParts(
  { text, parts = [{ type: "text", text }] }: UserMessage,
  contents: FileContents = NO_CONTENTS,
): readonly ReadyPart[] {
  return parts.map((part) => (part.type === "text" ? part : readyFile(part, contents)));
}

/**
 * Lists what a model reads of a tool's result: the labelled observation, then the content beside
 * it. Every text is labelled as data, too.
 */
export function readyResult(
  message: ToolMessage,
  contents: FileContents = NO_CONTENTS,
): readonly ReadyPart[] {
  const { name: tool, toolCallId: call, content = [] } = message;
  const label = (text: string): ReadyPart => {
    const names = { tool, call };
    return { type: "text", text: labelData({ element: "tool_text", names, value: text }) };
  };
  return [
    { type: "text", text: labelOnce(message) },
    ...content.map((part) => {
      const ready = part.type === "text" ? part : readyFile(part, contents);
      return ready.type === "text" ? label(ready.text) : ready;
    }),
  ];
}

/** Labelled observations. Each step of a run shows those of all earlier steps again. */
const LABELLED = new WeakMap<ToolMessage, string>();

function labelOnce(message: ToolMessage): string {
  const known = LABELLED.get(message);
  if (known !== undefined) return known;
  const { name: tool, toolCallId: call, result, feedback } = message;
  const text = wrapToolOutput({ tool, call, result, feedback });
  LABELLED.set(message, text);
  return text;
}

const NO_CONTENTS: FileContents = new Map();

function readyFile({ type, name, source }: FilePart, contents: FileContents): ReadyPart {
  const named = { type, name: name ?? type };
  if (source.kind === "address") return { ...named, url: source.url };
  const { hash, mediaType } = source;
  const base64 = contents.get(hash);
  if (base64 === undefined) return note(`The ${type} of this message is no longer kept.`);
  return { ...named, url: `data:${mediaType};base64,${base64}`, content: { mediaType, base64 } };
}

/** What a model can take of files, and what they can cost. */
export type FileAbilities = Pick<
  ModelAbilities,
  "images" | "files" | "maxImageTokens" | "maxFileTokens"
>;

/** Replaces the files that a model cannot take by notes. Contract: pure. */
export function fitMessage(message: TranscriptMessage, can: FileAbilities): TranscriptMessage {
  const fit = <Part extends UserPart>(part: Part): Part | ReturnType<typeof note> =>
    part.type === "text" || canTake(part, can)
      ? part
      : note(`The ${part.type} of this message is left out, because this model takes none.`);
  if (message.role === "user" && message.parts) {
    return { ...message, parts: message.parts.map(fit) };
  }
  return message.role === "tool" && message.content
    ? { ...message, content: message.content.map(fit) }
    : message;
}

/** Tells whether the encoding of a message depends on the content of files, too. */
export function hasFiles(message: TranscriptMessage): boolean {
  if (message.role === "user") return message.parts !== undefined;
  return message.role === "tool" && message.content !== undefined;
}

/** Bounds the tokens of the files of a fitted message. Infinity: the model has no known bound. */
export function boundFiles(message: TranscriptMessage, can: FileAbilities): number {
  const parts = message.role === "user" ? message.parts : undefined;
  const content = message.role === "tool" ? message.content : undefined;
  let tokens = 0;
  for (const { type } of parts ?? content ?? []) {
    if (type === "image") tokens += can.maxImageTokens ?? Infinity;
    if (type === "file") tokens += can.maxFileTokens ?? Infinity;
  }
  return tokens;
}

function canTake({ type }: FilePart, { images, files }: FileAbilities): boolean {
  return type === "image" ? images : files;
}

function note(text: string): Extract<ReadyPart, { type: "text" }> {
  return { type: "text", text: `[${text}]` };
}
