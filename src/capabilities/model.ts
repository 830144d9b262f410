import type { ModelEvent } from "../protocol/model/event.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";

/** One model call. */
export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly TranscriptMessage[];
  /** What the model may ask for; nothing else is ever shown to it. */
  readonly tools: readonly ToolSpec[];
  /** The longest answer, thinking included; absent means as long as the provider lets it be. */
  readonly maxOutputTokens?: number;
}

/**
 * Tells how many tokens a request has at most, before a provider has counted them.
 * Contract: pure; reads each message and tool once, however often it is asked.
 */
export type InputBound = (request: Pick<ModelRequest, "messages" | "tools">) => number;

/**
 * Calls a language model.
 * Contract: yields one batch of events per network read, never an empty one, and ends with exactly
 * one `answer` event, whatever the provider does; it does not throw. Text deltas concatenate to
 * `answer.text`. Aborting the signal closes the connection and ends in an answer with failure `aborted`.
 * It makes one HTTP request and never retries.
 */
export interface Model {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]>;
}
