import type { ApprovalSummary } from "../approval/view.ts";
import type { AuditEntry } from "../audit/entry.ts";
import type { ListedFeedback } from "../conversation/feedback.ts";
import type { RunId } from "../identity/ids.ts";
import type { RunOwner } from "../identity/viewer.ts";
import type { Measures } from "../metric/measures.ts";
import type { AwaitedOutcome } from "./awaited-outcome.ts";
import type { RunSummary } from "./summary.ts";

/** Which conversation a run belongs to, and where it was started. */
export type ConversationPlace = Pick<RunOwner, "origin"> & {
  readonly conversationId: RunId;
  /** The assistant that answers. */
  readonly assistantId?: string;
};

/** Somebody gave feedback for an answer of the conversation; null takes it back. */
export interface FeedbackNotice {
  readonly type: "feedback";
  readonly runId: RunId;
  readonly feedback: ListedFeedback | null;
}

/** A notice from a run to its TenantObject. A newer one of the same run or approval replaces it. */
export type TenantNotice =
  | {
      readonly type: "run";
      readonly run: RunSummary;
      /** The calls of the run with an unknown outcome; absent without any. */
      readonly outcomes?: readonly AwaitedOutcome[];
      /** The conversation that the run is a turn of; absent for a direct call. */
      readonly conversation?: ConversationPlace;
    }
  /** The owner of the conversation that begins with the run gave it a title. */
  | { readonly type: "conversation"; readonly title: string }
  | FeedbackNotice
  /** What a run that ended adds to the metrics of its tenant. */
  | { readonly type: "measures"; readonly measures: Measures; readonly spent?: Measures }
  /** What was said in the run is deleted, or in the whole conversation that begins with it. */
  | { readonly type: "erased" | "conversation_erased" }
  | { readonly type: "approval"; readonly approval: ApprovalSummary }
  | {
      readonly type: "audit";
      readonly entry: AuditEntry;
      /** Hashes of the recipients, accounts and hosts that the call named. Absent: none. */
      readonly usedNames?: readonly string[];
    };
