import type { LoadedPolicy } from "../../capabilities/policy.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { ReplayClock } from "./clock.ts";

/** What a finished run leaves to show how it was decided. */
export interface RunEvidence {
  readonly claim: RunClaim;
  /** The document that the run pinned; of a run that had none, the one that denies everything. */
  readonly policy: LoadedPolicy;
  /** The whole conversation, with what the run began with. */
  readonly transcript: readonly TranscriptMessage[];
  readonly invocations: readonly ToolInvocationRecord[];
  readonly log: readonly AiEvent[];
  /** Model calls that the run has counted; see RunFacts. */
  readonly modelCalls: number;
  /** Unit: Unix milliseconds. */
  readonly createdMs: number;
}

/** Why a run cannot be decided again. */
export type NotReplayableReason =
  /** It has not ended, or one of its calls has not. */
  | "unfinished"
  /** Somebody, or its time, stopped it at a moment that no record tells. */
  | "stopped"
  /** It failed inside Interlock. */
  | "broken"
  /** An interruption cut off a step that was then refused. */
  | "interrupted"
  /** An operator was asked what became of a call. */
  | "operator"
  /** People were asked whether a call may run. */
  | "people"
  /** A hook of the deployment had its say, which nobody can hear again. */
  | "vetoed"
  /** A policy that came after the pinned one refused a call. */
  | "policy_changed"
  /** A check of a contract broke, or a message and a call crossed. */
  | "unclear";

/** What all played ports share. */
export interface Replay {
  readonly evidence: RunEvidence;
  readonly clock: ReplayClock;
  /** Calls that have their result, in the replay. */
  readonly answered: ReadonlySet<string>;
  /** Notes that the evidence does not tell what is asked; the first reason stays. */
  readonly markNotReplayable: (reason: NotReplayableReason) => void;
}
