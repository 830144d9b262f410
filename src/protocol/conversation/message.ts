import type { ToolCallId } from "../identity/ids.ts";
import type { JsonValue } from "../json/value.ts";

/** Longest conversation that another run may continue, as stored; above it nothing could be sent. */
export const MAX_CONVERSATION_BYTES = 8 * 1024 * 1024;

/** A tool call as the transcript remembers it. */
export interface TranscriptToolCall {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  /** JSON text of one object; `{}` where the model's own text was no such thing. */
  readonly argumentsText: string;
}

/** One message of the conversation as the model is shown it. */
export type TranscriptMessage =
  | { readonly role: "system"; readonly text: string }
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly toolCalls: readonly TranscriptToolCall[];
    }
  | {
      readonly role: "tool";
      readonly toolCallId: ToolCallId;
      readonly name: string;
      readonly result: JsonValue;
    };
