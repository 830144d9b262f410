import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputContent,
  ResponseInputItem,
} from "openai/resources/responses/responses";
import type { ReasoningEffort } from "openai/resources/shared";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { JsonSchema7, ShownTool } from "../../protocol/tool/spec.ts";
import {
  type FileContents,
  hasFiles,
  readyParts,
  readyResult,
  type ReadyPart,
} from "../model/message-parts.ts";
import type { EncodedRequest, Sent, WireRequest, WireTraits } from "../model/model-wire.ts";
import { encodedOnce } from "../model/encoded-once.ts";
import { encodeName, opaqueItemsFor } from "../model/opaque.ts";
import { dropNullsOfOptional, toStrictSchema } from "../openai/strict-schema.ts";

type Items = readonly Sent<ResponseInputItem>[];

/**
 * Encodes a model call as the body of a streaming Responses request. The provider stores nothing,
 * so it sends its reasoning encrypted and gets the reasoning back.
 * Contract: pure; linear; keeps ids, order and argument text.
 */
export function encodeRequest(
  request: WireRequest,
  { strictTools }: Pick<WireTraits, "strictTools">,
): EncodedRequest {
  const { model, author = model, messages, files, tools: specs, maxOutputTokens } = request;
  const { effort, summaries, temperature, toolChoice } = request;
  const tools = specs.map(strictTools ? encodeStrictTool : encodeLooseTool);
  const strict = new Map<string, JsonSchema7>();
  for (const [at, spec] of specs.entries()) {
    if (tools[at]?.strict) strict.set(spec.name, spec.inputSchema);
  }
  const reasoning = {
    ...(effort !== undefined && { effort: effort as ReasoningEffort }),
    ...(summaries && { summary: "auto" as const }),
  };
  const body = {
    model,
    input: messages.flatMap<Items[number]>(
      (message) =>
        (opaqueItemsFor(message, { wire: "responses", model: author }) as Items | undefined) ??
        (hasFiles(message) ? encodePlain(message, files) : encodeOnce(message)),
    ),
    stream: true,
    store: false,
    ...(!NEVER_REASONS.test(model) && { include: ["reasoning.encrypted_content"] }),
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(temperature !== undefined && { temperature }),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && {
      tool_choice:
        typeof toolChoice === "string" ? toolChoice : { type: "function", name: toolChoice.tool },
    }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
  } satisfies Sent<ResponseCreateParamsStreaming>;
  const restoreArguments = (toolName: string, argumentsText: string): string => {
    const schema = strict.get(toolName);
    return schema ? dropNullsOfOptional(schema, argumentsText) : argumentsText;
  };
  return { body, restoreArguments };
}

/** Families that refuse to be asked for encrypted reasoning, because they have none. */
const NEVER_REASONS = /^(?:openai\/)?(?:gpt-3|gpt-4|chatgpt-4)/;

/** Encodes a tool. Without `strict` the provider would take the tool as strict. */
export function encodeTool(
  { name, description, inputSchema }: ShownTool,
  strict: boolean,
): FunctionTool {
  const parameters = strict ? toStrictSchema(inputSchema) : undefined;
  return {
    type: "function",
    name,
    description,
    parameters: { ...(parameters ?? inputSchema) },
    strict: parameters !== undefined,
  };
}

const encodeStrictTool = encodedOnce((spec: ShownTool) => encodeTool(spec, true));
const encodeLooseTool = encodedOnce((spec: ShownTool) => encodeTool(spec, false));
/** Encodes a message without files. */
const encodeOnce = encodedOnce((message: TranscriptMessage) => encodePlain(message));

/** Encodes a message with everything that may be sent of it. */
export function encodeMessage(message: TranscriptMessage): unknown {
  return [message.role === "assistant" && message.opaque?.items, encodePlain(message)];
}

/** Encodes what is ours of a message. */
function encodePlain(
  message: TranscriptMessage,
  files?: FileContents,
): readonly ResponseInputItem[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.text }];
    case "user": {
      if (!message.parts) return [{ role: "user", content: message.text }];
      return [{ role: "user", content: readyParts(message, files).map(encodePart) }];
    }
    case "assistant":
      return [
        ...(message.text === "" ? [] : [{ role: "assistant" as const, content: message.text }]),
        ...message.toolCalls.map((call) => ({
          type: "function_call" as const,
          call_id: call.toolCallId,
          name: encodeName(call.name),
          arguments: call.argumentsText,
        })),
      ];
    case "tool": {
      const [first, ...more] = readyResult(message, files).map(encodePart);
      const isPlain = first?.type === "input_text" && more.length === 0;
      const output = isPlain ? first.text : [...(first ? [first] : []), ...more];
      return [{ type: "function_call_output", call_id: message.toolCallId, output }];
    }
  }
}

function encodePart(part: ReadyPart): ResponseInputContent {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image":
      return { type: "input_image", image_url: part.url, detail: "auto" };
    case "file":
      return part.content
        ? { type: "input_file", filename: part.name, file_data: part.url }
        : { type: "input_file", file_url: part.url };
  }
}
