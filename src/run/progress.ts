import { NO_USAGE, type Usage } from "../protocol/model/usage.ts";
import type { DoneReason, RunError } from "../protocol/run/event.ts";
import { NO_FACTS, type RunFacts } from "../protocol/run/facts.ts";

/** Progress of a run, and how the run ended. */
export interface RunProgress {
  readonly steps: number;
  readonly usage: Usage;
  readonly facts: RunFacts;
  readonly title: string | null;
  readonly reason: DoneReason | null;
  readonly error: RunError | null;
  readonly endedMs: number | null;
}

/** Progress of a new run. The first model call counts already, so it needs no separate write. */
export const NEW_RUN: RunProgress = {
  steps: 0,
  usage: NO_USAGE,
  facts: { ...NO_FACTS, modelCalls: 1 },
  title: null,
  reason: null,
  error: null,
  endedMs: null,
};
