import type {
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { ToolSpec } from "../../protocol/tool/spec.ts";
import type { TranscriptMessage, TranscriptToolCall } from "../../protocol/conversation/message.ts";
import { wrapToolOutput } from "../tool-output.ts";
import { dropNullsOfOptional, toStrictSchema } from "./strict-schema.ts";

/** Tools as the provider takes them, and the way back for the arguments it makes for them. */
export interface EncodedTools {
  readonly tools: readonly ChatCompletionFunctionTool[];
  /** Gives arguments the shape of the tool's own contract again; see `dropNullsOfOptional`. */
  readonly restoreArguments: (toolName: string, argumentsText: string) => string;
}

/**
 * Encodes tools for Chat Completions: exactly `type` and `function`, and in that exactly `name`,
 * `description`, `parameters`, and `strict: true` where `strict` allows and the schema fits.
 * Contract: pure; linear; keeps the order.
 */
export function encodeTools(specs: readonly ToolSpec[], strict: boolean): EncodedTools {
  const contracts = new Map<string, ToolSpec>();
  const tools = specs.map((spec): ChatCompletionFunctionTool => {
    const { name, description, inputSchema } = spec;
    const parameters = strict ? toStrictSchema(inputSchema) : undefined;
    if (!parameters) {
      return { type: "function", function: { name, description, parameters: inputSchema } };
    }
    contracts.set(name, spec);
    return { type: "function", function: { name, description, parameters, strict: true } };
  });
  const restoreArguments = (toolName: string, argumentsText: string): string => {
    const contract = contracts.get(toolName);
    return contract ? dropNullsOfOptional(contract.inputSchema, argumentsText) : argumentsText;
  };
  return { tools, restoreArguments };
}

/**
 * Encodes the conversation for Chat Completions, one message each. What a tool gave, or what a client
 * says it gave, is labelled data in a message of the role `tool`, never anyone's words.
 * Contract: pure; linear; keeps ids, order and argument text.
 */
export function encodeMessages(
  messages: readonly TranscriptMessage[],
): readonly ChatCompletionMessageParam[] {
  return messages.map(encodeMessage);
}

/** Encodes one message of a conversation. */
export function encodeMessage(message: TranscriptMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.text };
    case "assistant":
      return encodeAssistant(message.text, message.toolCalls);
    case "tool":
      return {
        role: "tool",
        tool_call_id: message.toolCallId,
        content: wrapToolOutput({
          tool: message.name,
          call: message.toolCallId,
          result: message.result,
        }),
      };
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

/** A name the model made up would make the provider refuse the whole conversation. */
function encodeName(name: string): string {
  return name.slice(0, 64).replaceAll(/[^a-zA-Z0-9_-]/g, "_") || "unknown";
}
