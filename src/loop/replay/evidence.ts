import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { WindowAnswer } from "../../capabilities/conversation.ts";
import type { LoadedPolicy } from "../../capabilities/policy.ts";
import type { HookContext } from "../../protocol/assistant/context.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { NotReplayableReason } from "../../protocol/run/replay.ts";
import type { ReplayClock } from "./clock.ts";

/** What a finished run stored about its decisions. */
export interface RunEvidence {
  readonly claim: RunClaim;
  /** The document that the run pinned; for a run without one, the policy that denies everything. */
  readonly policy: LoadedPolicy;
  /** The messages of the run, those of the request among them. */
  readonly transcript: readonly TranscriptMessage[];
  /** What its conversation answers today to the reference of `historyShown`. Absent: no history. */
  readonly window?: WindowAnswer | undefined;
  /** What the deployment's hook gave. Absent: nothing. */
  readonly context?: HookContext | undefined;
  readonly invocations: readonly ToolInvocationRecord[];
  /** All requests, closed ones too. Absent: none. */
  readonly approvals?: readonly ApprovalRecord[] | undefined;
  readonly log: readonly AiEvent[];
  /** Model calls that the run has counted; see RunFacts. */
  readonly modelCalls: number;
  /** Unit: Unix milliseconds. */
  readonly createdMs: number;
}

/** What all ports of one replay share. */
export interface Replay {
  readonly evidence: RunEvidence;
  readonly clock: ReplayClock;
  /** Ids of the calls that have their result in the replay. */
  readonly answered: ReadonlySet<string>;
  /** Notes that the evidence lacks what the replay needs. The first reason is kept. */
  readonly markNotReplayable: (reason: NotReplayableReason) => void;
}
