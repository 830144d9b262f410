import type { ToolCallId } from "../identity/ids.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import type { Feedback } from "../outcome/feedback.ts";
import type { Labelled } from "../label/source.ts";
import type { KeptContent } from "../tool/content.ts";
import type { UserPart } from "./file-part.ts";

/** Longest stored conversation that another run may continue. A longer one could not be sent. */
export const MAX_CONVERSATION_BYTES = 8 * 1024 * 1024;

/** A tool call in a transcript. */
export interface TranscriptToolCall {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  /** JSON text of one object; `{}` when the model's text was not a JSON object. */
  readonly argumentsText: string;
}

/**
 * The provider's own form of an answer, such as encrypted reasoning. The provider must see it again
 * verbatim; no one else reads it.
 */
export interface OpaqueAnswer {
  /** The wire and the model that can read it. */
  readonly wire: string;
  readonly model: string;
  readonly items: readonly JsonObject[];
}

/**
 * One message of the conversation, as the model sees it, and the sources of its text. An answer of
 * the model names those that no other message names: the context of its run.
 */
export type TranscriptMessage = Labelled & UnlabelledMessage;

type UnlabelledMessage =
  | { readonly role: "system"; readonly text: string }
  | {
      readonly role: "user";
      /** All text of the message. */
      readonly text: string;
      /** The text and the files in their order. Present exactly when there are files. */
      readonly parts?: readonly UserPart[];
      /**
       * Number of the invocation that the message is a note about. A person wrote every message
       * that is neither a note nor a summary.
       */
      readonly aboutInvocation?: number;
      /** Number of the earlier turns that the message is a summary of: a model wrote it. */
      readonly summarises?: number;
    }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly toolCalls: readonly TranscriptToolCall[];
      /** Says the same as the text and the calls, and more. */
      readonly opaque?: OpaqueAnswer;
    }
  | {
      readonly role: "tool";
      readonly toolCallId: ToolCallId;
      readonly name: string;
      readonly result: JsonValue;
      /** Present exactly when the call failed. A client claims none. */
      readonly feedback?: Feedback;
      /** Text and images beside the result. Present exactly when there are some. */
      readonly content?: readonly KeptContent[];
    };
