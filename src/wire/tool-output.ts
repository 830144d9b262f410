import type { JsonValue } from "../protocol/json/value.ts";
import type { Feedback } from "../protocol/outcome/feedback.ts";
import { labelData } from "../protocol/text/label-data.ts";

/** Output of one tool call, for a model to read. */
export interface ToolOutput {
  /** Name from the transcript; untrusted, because a model or a client may have invented it. */
  readonly tool: string;
  readonly call: string;
  readonly result: JsonValue;
  readonly feedback?: Feedback | undefined;
}

/**
 * Wraps a tool's output for a model, as labelData does. An explaining sentence would cost tokens
 * with every call of every step.
 */
export function wrapToolOutput({ tool, call, result, feedback }: ToolOutput): string {
  return labelData({ element: "tool_output", names: { tool, call, ...feedback }, value: result });
}
