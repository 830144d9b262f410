import type { EventPosition } from "../protocol/event-id.ts";
import type { RunId } from "../protocol/ids.ts";
import type { RunClaim } from "../protocol/run-claim.ts";
import type { RunState } from "../protocol/run-state.ts";
import type { TranscriptMessage } from "../protocol/transcript-message.ts";

/** A run's conversation, for the run that continues it. */
export type TranscriptAnswer =
  | { readonly kind: "transcript"; readonly messages: readonly TranscriptMessage[] }
  | { readonly kind: "running" }
  /** It passed MAX_CONVERSATION_BYTES. */
  | { readonly kind: "too_long" }
  | { readonly kind: "unknown" };

/** What became of a message for a run. */
export type SteerAnswer =
  | { readonly kind: "taken"; readonly state: RunState }
  /** It is over, or so near its end that no step would answer. */
  | { readonly kind: "ended" }
  /** Too many messages wait for the next step. */
  | { readonly kind: "full" }
  | { readonly kind: "unknown" };

/**
 * Reaches the object that owns a run.
 * Contract: ids are verified before they come here. A run that was never started answers undefined
 * or `unknown`. The bodies are event streams and must be handed through untouched.
 */
export interface RunGateway {
  /** Claims and starts a run; answers with its event stream, or as `repeat` when it is claimed. */
  start(claim: RunClaim): Promise<Response>;
  /**
   * Answers a request that came under the key of a run: 200 with the whole stream once the run has
   * ended, 409 while it goes, 422 when the run was started by another body, 404 for no such run.
   */
  repeat(runId: RunId, requestHash: string): Promise<Response>;
  /**
   * Answers with the events after a position, from the first one without it: 200 with a stream, 204
   * when the run ended there, 404 for no such run, 409 for a position the run never reached, 429 when
   * too many readers follow it already.
   */
  events(runId: RunId, after: EventPosition | undefined): Promise<Response>;
  state(runId: RunId): Promise<RunState | undefined>;
  /** Asks a run to stop; answers with its state once it has. Contract: idempotent. */
  cancel(runId: RunId): Promise<RunState | undefined>;
  /** Says something to a run while it goes. Contract: a message that is `taken` is never lost. */
  steer(runId: RunId, text: string): Promise<SteerAnswer>;
  transcript(runId: RunId): Promise<TranscriptAnswer>;
}
