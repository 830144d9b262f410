import type { AnswerSettings } from "../protocol/model/answer-settings.ts";
import type { DeclaredModel, ModelAbilities } from "../protocol/model/declaration.ts";
import type { ModelEvent } from "../protocol/model/event.ts";
import type { ShownTool } from "../protocol/tool/spec.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";

/** One model call. */
export interface ModelRequest {
  /** Id of a declared model. */
  readonly model: string;
  readonly messages: readonly TranscriptMessage[];
  /** Content of the files in the messages, in base64 by hash. Other files become notes. */
  readonly files?: ReadonlyMap<string, string>;
  /** The only tools that the model sees. */
  readonly tools: readonly ShownTool[];
  /** The longest answer, thinking included. Absent: the provider's own limit. */
  readonly maxOutputTokens?: number;
  readonly settings?: AnswerSettings;
  /** Names the trace of the run to the provider. Absent: nothing is named. */
  readonly traceparent?: Promise<string>;
}

/**
 * Computes the most tokens that a request can have, before a provider has counted them.
 * Contract: pure; reads each message and tool once, however often it is called.
 */
export type InputBound = (
  request: Pick<ModelRequest, "model" | "messages" | "tools"> & {
    /** What the model can take, where only the run knows the model. */
    readonly can?: ModelAbilities | undefined;
  },
) => number;

/** Finds a model by its id. Contract: pure; undefined for a model that is not offered any more. */
export type ModelDirectory = (id: string) => DeclaredModel | undefined;

/**
 * Calls a language model.
 * Contract: never throws. Yields one batch of events per network read, and no empty batch. Ends
 * with exactly one `answer` event, whatever the provider does. Text deltas concatenate to
 * `answer.text`; no delta cuts a character. Aborting the signal closes the connection and leads to
 * an answer with failure `aborted`. Makes one HTTP request and never retries.
 */
export interface Model {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]>;
}
