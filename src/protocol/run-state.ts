import type { DoneReason, RunError } from "./ai-event.ts";
import type { RunId, ToolCallId } from "./ids.ts";
import type { NextAction } from "./response-vector.ts";
import type { TaxonomyClass } from "./taxonomy.ts";
import type { Usage } from "./usage.ts";

export type RunStatus = "running" | "completed" | "cancelled" | "failed";

/** Maps how a run ended to the status that a reader sees. */
export function statusOf(reason: DoneReason): Exclude<RunStatus, "running"> {
  switch (reason) {
    case "stop":
    case "length":
    case "content_filter":
    case "step_limit":
      return "completed";
    case "cancelled":
      return "cancelled";
    case "error":
      return "failed";
  }
}

/** One tool call as `GET /v1/runs/:id` shows it. */
export interface ToolCallSummary {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  /** Of the tool; `unknown` when there is none of that name. */
  readonly version: string;
  readonly step: number;
  readonly outcome: TaxonomyClass;
  /** What follows of it (seeds/004, "Response Vector Model"). */
  readonly nextAction: NextAction;
  readonly attempts: number;
  readonly startedAt: string;
  readonly endedAt: string;
}

/** The body of `GET /v1/runs/:id`. Times are ISO 8601, UTC. */
export interface RunState {
  readonly runId: RunId;
  readonly status: RunStatus;
  /** Present once the run ended. */
  readonly reason?: DoneReason;
  readonly error?: RunError;
  readonly title?: string;
  readonly model: string;
  /** Steps begun. */
  readonly steps: number;
  readonly toolCalls: readonly ToolCallSummary[];
  readonly usage: Usage;
  readonly timestamps: {
    readonly createdAt: string;
    readonly endedAt?: string;
  };
}
