import type { LoadedPolicy } from "../../capabilities/policy.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";

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
