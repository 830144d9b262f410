import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { WindowAnswer } from "../../capabilities/conversation.ts";
import type { LoadedPolicy } from "../../capabilities/policy.ts";
import type { HookContext } from "../../protocol/assistant/context.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { RunFacts } from "../../protocol/run/facts.ts";

/** What a finished run stored about its decisions. */
export interface RunEvidence {
  readonly claim: RunClaim;
  /** The document that the run pinned; for a run without one, the policy that denies everything. */
  readonly policy: LoadedPolicy;
  /** The other documents under which people were asked. Absent: none. */
  readonly laterPolicies?: readonly LoadedPolicy[];
  /** The messages of the run, those of the request among them. */
  readonly transcript: readonly TranscriptMessage[];
  /** What its conversation answers today to the reference of `historyShown`. Absent: no history. */
  readonly window?: WindowAnswer | undefined;
  /** What the deployment's hook gave. Absent: nothing. */
  readonly context?: HookContext | undefined;
  readonly invocations: readonly ToolInvocationRecord[];
  /** All requests, closed ones too, by invocation and generation. Absent: none. */
  readonly approvals?: readonly ApprovalRecord[] | undefined;
  readonly log: readonly AiEvent[];
  readonly facts: RunFacts;
  /** The log ends with this step, and the run does not. Absent: it is the log of the whole run. */
  readonly untilStep?: number;
  /** Unit: Unix milliseconds. */
  readonly createdMs: number;
}

/** Reads the code of the first error with which a call ended. */
export function codeOf(record: ToolInvocationRecord | undefined): string | undefined {
  return record?.end?.observation.result_payload.errors[0]?.code;
}
