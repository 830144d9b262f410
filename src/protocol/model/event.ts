import type { OpaqueAnswer } from "../conversation/message.ts";
import type { ToolCall } from "../tool/call.ts";
import type { Usage } from "./usage.ts";

/** Why a model stopped, in neutral terms. */
export type ModelFinish =
  | "stop"
  | "tool_calls"
  /** The provider stopped in the middle of its own work and wants the same conversation again. */
  | "pause"
  | "length"
  /** The conversation filled the model's context window. */
  | "context_window"
  | "content_filter"
  /** The model declined to answer. */
  | "refusal"
  | "error";

/** Why a model call failed. `detail` may hold a provider's text, so only the audit gets it. */
export interface ModelFailure {
  readonly code:
    | "upstream_not_configured"
    /** The tenant deleted its provider, or no longer allows the model. */
    | "provider_missing"
    /** The provider's key cannot be opened. */
    | "provider_unreadable"
    | "upstream_unreachable"
    | "upstream_status"
    | "upstream_not_a_stream"
    | "upstream_error_event"
    | "upstream_malformed"
    /** The answer has two readings, of which one would repeat an effect. */
    | "upstream_ambiguous"
    /** The answer is that of another wire. */
    | "upstream_wrong_wire"
    | "upstream_too_large"
    | "upstream_truncated"
    | "upstream_stalled"
    | "aborted";
  /** HTTP status of the response; absent without a response. */
  readonly status?: number;
  /** Wait that the provider asked for. Unit: seconds. */
  readonly retryAfterSeconds?: number;
  readonly detail: string;
}

/** One finished model call. */
export interface ModelAnswer {
  readonly text: string;
  /**
   * In the order asked; ids are non-empty, and a provider may repeat one. Empty when the call
   * failed.
   */
  readonly toolCalls: readonly ToolCall[];
  readonly finish: ModelFinish;
  /** Absent when the provider reported no usage. */
  readonly usage?: Usage;
  /** What the provider must see again. Absent when there is nothing. */
  readonly opaque?: OpaqueAnswer;
  /** Present exactly when `finish` is `error`. */
  readonly failure?: ModelFailure;
}

/**
 * One event of a model call: deltas of the text and of the reasoning summary as they arrive, then
 * exactly one `answer`. Summaries come only where the deployment asked for them.
 */
export type ModelEvent =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "summary_delta"; readonly text: string }
  | { readonly type: "answer"; readonly answer: ModelAnswer };
