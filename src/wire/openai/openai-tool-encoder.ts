import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionToolChoiceOption,
} from "openai/resources/chat/completions";
import type { ReasoningEffort } from "openai/resources/shared";
import type { ShownTool } from "../../protocol/tool/spec.ts";
import type { ToolChoice } from "../../protocol/model/answer-settings.ts";
import type { TranscriptMessage, TranscriptToolCall } from "../../protocol/conversation/message.ts";
import { labelData } from "../../protocol/text/label-data.ts";
import {
  type FileContents,
  hasFiles,
  readyParts,
  readyResult,
  type ReadyPart,
} from "../model/message-parts.ts";
import type { EncodedRequest, Sent, WireRequest, WireTraits } from "../model/model-wire.ts";
import { encodedOnce } from "../model/encoded-once.ts";
import { encodeName } from "../model/opaque.ts";
import { dropNullsOfOptional, toStrictSchema } from "./strict-schema.ts";

/** Encodes a model call as the body of a streaming Chat Completions request. Contract: pure. */
export function encodeRequest(
  request: WireRequest,
  { strictTools, maxTokensField }: WireTraits,
): EncodedRequest {
  const { model, messages, files, tools: specs, maxOutputTokens } = request;
  const { effort, temperature, toolChoice } = request;
  const { tools, restoreArguments } = encodeTools(specs, strictTools);
  const body = {
    model,
    messages: encodeMessages(messages, files),
    stream: true,
    stream_options: { include_usage: true },
    ...(effort !== undefined && { reasoning_effort: effort as ReasoningEffort }),
    ...(temperature !== undefined && { temperature }),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && { tool_choice: encodeToolChoice(toolChoice) }),
    ...(maxOutputTokens !== undefined && { [maxTokensField]: maxOutputTokens }),
  } satisfies Sent<ChatCompletionCreateParamsStreaming>;
  return { body, restoreArguments };
}

function encodeToolChoice(choice: ToolChoice): ChatCompletionToolChoiceOption {
  if (typeof choice === "string") return choice;
  return { type: "function", function: { name: choice.tool } };
}

/** Tools in the provider's format, and the function that reverts the arguments of their calls. */
export interface EncodedTools {
  readonly tools: readonly ChatCompletionFunctionTool[];
  /** Turns arguments back into the shape of the tool's contract; see `dropNullsOfOptional`. */
  readonly restoreArguments: (toolName: string, argumentsText: string) => string;
}

/**
 * Encodes tools for Chat Completions. A tool has exactly `type` and `function`; the function has
 * `name`, `description`, `parameters`, and `strict: true` where `strict` is set and the schema
 * fits.
 * Contract: pure; linear; keeps the order.
 */
export function encodeTools(specs: readonly ShownTool[], strict: boolean): EncodedTools {
  const contracts = new Map<string, ShownTool>();
  const tools = specs.map(strict ? encodeStrictTool : encodeLooseTool);
  for (const [at, spec] of specs.entries()) {
    if (tools[at]?.function.strict) contracts.set(spec.name, spec);
  }
  const restoreArguments = (toolName: string, argumentsText: string): string => {
    const contract = contracts.get(toolName);
    return contract ? dropNullsOfOptional(contract.inputSchema, argumentsText) : argumentsText;
  };
  return { tools, restoreArguments };
}

const encodeStrictTool = encodedOnce((spec: ShownTool): ChatCompletionFunctionTool => {
  const { name, description, inputSchema } = spec;
  const parameters = toStrictSchema(inputSchema);
  if (!parameters) return encodeLooseTool(spec);
  return { type: "function", function: { name, description, parameters, strict: true } };
});

const encodeLooseTool = encodedOnce(
  ({ name, description, inputSchema }: ShownTool): ChatCompletionFunctionTool => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }),
);

/**
 * Encodes the conversation for Chat Completions. A tool's output, also one that a client claims,
 * becomes labelled data in a message of the role `tool`. Such a message takes no images, so the
 * images of one answer's calls follow the last result, labelled, in a message of the user.
 * Contract: pure; linear; keeps ids, order and argument text.
 */
export function encodeMessages(
  messages: readonly TranscriptMessage[],
  files?: FileContents,
): readonly ChatCompletionMessageParam[] {
  const encoded: ChatCompletionMessageParam[] = [];
  let images: ChatCompletionContentPart[] = [];
  const showImages = (): void => {
    if (images.length > 0) encoded.push({ role: "user", content: images });
    images = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") showImages();
    if (!hasFiles(message)) encoded.push(encodeOnce(message));
    else if (message.role === "tool") {
      const parts = readyResult(message, files);
      encoded.push(encodeResult(message, parts));
      images.push(...labelImages(message, parts));
    } else encoded.push(encodeMessage(message, files));
  }
  showImages();
  return encoded;
}

/** Encodes a message without files. */
const encodeOnce = encodedOnce((message: TranscriptMessage) =>
  message.role === "tool" ? encodeResult(message, readyResult(message)) : encodeMessage(message),
);

function encodeResult(
  { toolCallId }: ToolMessage,
  parts: readonly ReadyPart[],
): ChatCompletionMessageParam {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { role: "tool", tool_call_id: toolCallId, content: texts.join("\n") };
}

function labelImages(
  { name: tool, toolCallId: call }: ToolMessage,
  parts: readonly ReadyPart[],
): readonly ChatCompletionContentPart[] {
  const images = parts.filter(({ type }) => type !== "text");
  if (images.length === 0) return [];
  const value = `The next ${images.length} images are output of this tool call.`;
  const text = labelData({ element: "tool_images", names: { tool, call }, value });
  return [{ type: "text", text }, ...images.map(encodePart)];
}

type ToolMessage = Extract<TranscriptMessage, { role: "tool" }>;

function encodeMessage(
  message: Exclude<TranscriptMessage, ToolMessage>,
  files?: FileContents,
): ChatCompletionMessageParam {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.text };
    case "user": {
      if (!message.parts) return { role: "user", content: message.text };
      return { role: "user", content: readyParts(message, files).map(encodePart) };
    }
    case "assistant":
      return encodeAssistant(message.text, message.toolCalls);
  }
}

function encodePart(part: ReadyPart): ChatCompletionContentPart {
  switch (part.type) {
    case "text":
      return part;
    case "image":
      return { type: "image_url", image_url: { url: part.url } };
    case "file":
      return { type: "file", file: { filename: part.name, file_data: part.url } };
  }
}

function encodeAssistant(
  text: string,
  toolCalls: readonly TranscriptToolCall[],
): ChatCompletionMessageParam {
  if (toolCalls.length === 0) return { role: "assistant", content: text };
  return {
    role: "assistant",
    content: text === "" ? null : text,
    tool_calls: toolCalls.map(encodeToolCall),
  };
}

function encodeToolCall(call: TranscriptToolCall): ChatCompletionMessageFunctionToolCall {
  return {
    id: call.toolCallId,
    type: "function",
    function: { name: encodeName(call.name), arguments: call.argumentsText },
  };
}
