import type { Usage } from "../../protocol/model/usage.ts";
import type { StreamedRun } from "../../protocol/run/client-wire.ts";
import type { DoneReason, RunError } from "../../protocol/run/event.ts";
import type { OutputItem } from "./output-items.ts";

/** How a response ended. */
export interface Ending {
  readonly status: "completed" | "incomplete" | "failed";
  /** Present exactly when it is incomplete. */
  readonly reason?: string;
  /** Present exactly when it failed. */
  readonly error?: RunError;
}

/** Reads the end of a run in the words of the protocol; those without a word keep ours. */
export function endingOf(reason: DoneReason, error: RunError | undefined): Ending {
  if (error) return { status: "failed", error };
  if (reason === "stop") return { status: "completed" };
  return { status: "incomplete", reason: REASONS[reason] ?? reason };
}

const REASONS: { readonly [reason in DoneReason]?: string } = {
  length: "max_output_tokens",
  context_window: "max_output_tokens",
  refusal: "content_filter",
};

/** What a response is made of. */
export interface ResponseParts {
  readonly id: string;
  readonly run: StreamedRun;
  readonly output: readonly OutputItem[];
  readonly ending: Ending | undefined;
  /** Sums of the run at the end of the response and before it. */
  readonly usage: readonly [Usage, Usage] | undefined;
}

/**
 * Describes a response with every member that the protocol demands. Those of settings have its
 * defaults: the assistant decides about settings, and its answer does not tell them.
 */
export function describeResponse({ id, run, output, ending, usage }: ResponseParts): object {
  const { status = "in_progress", reason, error } = ending ?? {};
  return {
    id,
    object: "response",
    created_at: Math.floor(run.createdMs / 1000),
    completed_at: null,
    status,
    incomplete_details: reason === undefined ? null : { reason },
    error: error ?? null,
    model: run.model,
    conversation: { id: run.workflowId },
    output,
    usage: usage ? formatUsage(...usage) : null,
    ...FIXED,
  };
}

const FIXED = {
  previous_response_id: null,
  instructions: null,
  tools: [],
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: null,
  user: null,
  max_output_tokens: null,
  max_tool_calls: null,
  store: true,
  background: false,
  service_tier: "default",
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
};

function formatUsage(sum: Usage, before: Usage): object {
  const since = (field: keyof Usage): number => (sum[field] ?? 0) - (before[field] ?? 0);
  const [input_tokens, output_tokens] = [since("inputTokens"), since("outputTokens")];
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: since("cachedInputTokens") },
    output_tokens,
    output_tokens_details: { reasoning_tokens: since("reasoningTokens") },
    total_tokens: input_tokens + output_tokens,
  };
}
