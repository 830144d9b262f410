import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  OutputConfig,
  TextBlockParam,
  Tool,
  ToolChoice as WireToolChoice,
} from "@anthropic-ai/sdk/resources/messages";
import type { ToolChoice } from "../../protocol/model/answer-settings.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { ShownTool } from "../../protocol/tool/spec.ts";
import {
  type FileContents,
  hasFiles,
  readyParts,
  readyResult,
  type ReadyPart,
} from "../model/message-parts.ts";
import type { EncodedRequest, Sent, WireRequest } from "../model/model-wire.ts";
import { encodedOnce } from "../model/encoded-once.ts";
import { encodeName, opaqueItemsFor } from "../model/opaque.ts";

/** The API asks for a longest answer. Every current model may answer this long. Unit: tokens. */
const DEFAULT_MAX_TOKENS = 16_384;
const CACHED = { cache_control: { type: "ephemeral" } } as const;

type Block = Sent<ContentBlockParam>;
type Effort = NonNullable<OutputConfig["effort"]>;

interface Message {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

/**
 * Encodes a model call as the body of a streaming Messages request. Instructions and tools are
 * marked for the provider's cache.
 * Contract: pure; linear; keeps order. The results of one answer's calls go in one user message,
 * and nothing stands before them.
 */
export function encodeRequest(request: WireRequest): EncodedRequest {
  const { model, author = model, messages, files, tools: specs, maxOutputTokens } = request;
  const { effort, summaries, temperature, toolChoice } = request;
  const system = messages.flatMap((message) =>
    message.role === "system" && message.text.trim() !== "" ? [textBlock(message.text)] : [],
  );
  const tools = specs.map(encodeToolOnce);
  const body = {
    model,
    max_tokens: maxOutputTokens ?? DEFAULT_MAX_TOKENS,
    ...(system.length > 0 && { system: markLast(system) }),
    messages: encodeMessages(messages, { author, files }),
    stream: true,
    ...(effort !== undefined && { output_config: { effort: effort as Effort } }),
    ...(temperature !== undefined && { temperature }),
    // Current models leave the words of their thinking out unless they are asked for them.
    ...(summaries && { thinking: { type: "adaptive", display: "summarized" } }),
    ...(tools.length > 0 && { tools: markLast(tools) }),
    ...(toolChoice !== undefined && { tool_choice: encodeToolChoice(toolChoice) }),
  } satisfies Sent<MessageCreateParamsStreaming>;
  return { body, restoreArguments: (_, argumentsText) => argumentsText };
}

function encodeToolChoice(choice: ToolChoice): WireToolChoice {
  if (typeof choice !== "string") return { type: "tool", name: choice.tool };
  return { type: choice === "required" ? "any" : choice };
}

export function encodeTool({ name, description, inputSchema }: ShownTool): Tool {
  const { $schema: _, ...schema } = inputSchema;
  return { name, description, input_schema: { ...schema, type: "object" } };
}

const encodeToolOnce = encodedOnce(encodeTool);
/** Encode a message without files, with its ids as they are or in permitted characters. */
const encodeVerbatim = encodedOnce((message: TranscriptMessage) =>
  encodePlain(message, (id) => id),
);
const encodeOnce = encodedOnce((message: TranscriptMessage) => encodePlain(message, encodeId));

/** Encodes a message with everything that may be sent of it. */
export function encodeMessage(message: TranscriptMessage): unknown {
  const plain = encodePlain(message, encodeId);
  return [message.role === "assistant" && message.opaque?.items, plain];
}

function encodeMessages(
  messages: readonly TranscriptMessage[],
  { author, files }: { readonly author: string; readonly files: FileContents | undefined },
): readonly Message[] {
  const encoded: Message[] = [];
  const verbatimIds = new Set<string>();
  const idOf = (id: string) => (verbatimIds.has(id) ? id : encodeId(id));
  const encode = (message: TranscriptMessage): readonly Block[] => {
    if (hasFiles(message)) return encodePlain(message, idOf, files);
    const isVerbatim = message.role === "tool" && verbatimIds.has(message.toolCallId);
    return isVerbatim ? encodeVerbatim(message) : encodeOnce(message);
  };
  for (const message of messages) {
    if (message.role === "system") continue;
    const opaque = opaqueItemsFor(message, { wire: "anthropic", model: author });
    for (const { id } of opaque ?? []) if (typeof id === "string") verbatimIds.add(id);
    const content = (opaque as readonly Block[] | undefined) ?? encode(message);
    const role = message.role === "assistant" ? "assistant" : "user";
    const last = encoded.at(-1);
    if (content.length === 0) continue;
    // The API wants a user to begin.
    if (!last && role === "assistant") encoded.push({ role: "user", content: [textBlock("…")] });
    if (last?.role === role) last.content.push(...content);
    else encoded.push({ role, content: [...content] });
  }
  return encoded;
}

/** Encodes what is ours of a message. The API refuses empty text. */
function encodePlain(
  message: TranscriptMessage,
  idOf: (id: string) => string,
  files?: FileContents,
): readonly Block[] {
  switch (message.role) {
    case "system":
      return message.text.trim() === "" ? [] : [textBlock(message.text)];
    case "user":
      return readyParts(message, files).flatMap(encodePart);
    case "assistant":
      return [
        ...(message.text.trim() === "" ? [] : [textBlock(message.text)]),
        ...message.toolCalls.map(({ toolCallId, name, argumentsText }) => ({
          type: "tool_use" as const,
          id: idOf(toolCallId),
          name: encodeName(name),
          input: JSON.parse(argumentsText) as unknown,
        })),
      ];
    case "tool": {
      const [first, ...more] = readyResult(message, files).flatMap(encodePart);
      const isPlain = first?.type === "text" && more.length === 0;
      const content = isPlain ? first.text : [...(first ? [first] : []), ...more];
      // Content of a tool holds texts and images only.
      return [{ type: "tool_result", tool_use_id: idOf(message.toolCallId), content } as Block];
    }
  }
}

function encodePart(part: ReadyPart): readonly Block[] {
  if (part.type === "text") return part.text.trim() === "" ? [] : [textBlock(part.text)];
  const { content, url } = part;
  const source = content
    ? { type: "base64", media_type: content.mediaType, data: content.base64 }
    : { type: "url", url };
  // The type of the content fits the type of the part.
  return [{ type: part.type === "image" ? "image" : "document", source } as Block];
}

function textBlock(text: string): TextBlockParam {
  return { type: "text", text };
}

function markLast<Item extends object>(items: readonly Item[]): readonly Item[] {
  return items.map((item, at) =>
    at === items.length - 1 ? Object.assign({}, item, CACHED) : item,
  );
}

const VALID_ID = /^[a-zA-Z0-9_-]+$/;

/** Writes an id of another provider in the characters that the API takes. */
function encodeId(id: string): string {
  if (VALID_ID.test(id)) return id;
  return `id${id.replaceAll(/[^a-zA-Z0-9]/g, (char) => `_${char.charCodeAt(0).toString(16)}_`)}`;
}
