import type { ObservationObject } from "./observation.ts";
import type { NextAction, ResponseVector } from "./response-vector.ts";

/**
 * What a model is told beside the observation of a call that failed (seeds/004, "Validation
 * Gates"). `failed`: a gate refused the call. `passed`: every gate let it pass, and the tool
 * failed.
 */
export interface Feedback {
  readonly validation_status: "failed" | "passed";
  readonly next_action: NextAction;
}

/** A call that ended, and how often its tool was asked to act. */
interface EndedCall {
  readonly observation: ObservationObject;
  readonly response: ResponseVector;
  readonly dispatches: number;
}

/** Says how a call failed and what follows; undefined for a call that did not fail. */
export function feedbackOf({ observation, response, dispatches }: EndedCall): Feedback | undefined {
  if (!observation.status.is_error) return undefined;
  const validation_status = dispatches > 0 ? "passed" : "failed";
  return { validation_status, next_action: response.next_action };
}
