import type { NotificationOutbox } from "../notifications/notification-outbox.ts";
import type { ApprovalQueue } from "./approval-queue.ts";
import type { ConversationList } from "./conversation-list.ts";
import type { EscalationList } from "./escalation-list.ts";
import type { FeedbackList } from "./feedback-list.ts";
import type { MeasureCounts } from "./measure-counts.ts";
import type { OutcomeList } from "./outcome-list.ts";
import type { RunDirectory } from "./run-directory.ts";
import type { StoredBytes } from "./stored-bytes.ts";
import type { UsedNameList } from "./used-names.ts";

/** Rows of each kind that one alarm deletes. */
const MAX_FORGOTTEN = 1_000;
/** Silence after which a run repeats no notice. Every run delivers or retries sooner. */
const SILENT_MS = 24 * 60 * 60 * 1_000;
/** Delay of the next deletion, when one alarm could not delete all rows. */
const NEXT_DELETION_MS = 1_000;

/** How long records are kept. Unit: milliseconds. */
export interface Retention {
  /** Of runs and approvals. */
  readonly keptMs: number;
  readonly conversationKeptMs: number;
  readonly auditKeptMs: number;
}

/** The lists that a retention keeps small; the audit log has one of its own. */
export interface KeptLists {
  readonly runs: RunDirectory;
  readonly approvals: ApprovalQueue;
  readonly conversations: ConversationList;
  readonly feedback: FeedbackList;
  readonly outcomes: OutcomeList;
  readonly escalations: EscalationList;
  readonly bytes: StoredBytes;
  readonly usedNames: UsedNameList;
  readonly measures: MeasureCounts;
  readonly notifications: NotificationOutbox;
}

/**
 * Time of the next deletion; undefined when nothing is stored. `recordedMs`: of the oldest record
 * of the audit log that may be removed.
 */
export function nextDeletionMs(
  lists: KeptLists,
  kept: Retention,
  recordedMs: number | undefined,
): number | undefined {
  const { keptMs, conversationKeptMs, auditKeptMs } = kept;
  const due = Math.min(
    ...[
      [lists.runs.oldestEndMs(), keptMs],
      [lists.conversations.oldestMs(), conversationKeptMs],
      [lists.feedback.oldestMs(), conversationKeptMs],
      [lists.approvals.oldestExpiryMs(), keptMs],
      [lists.usedNames.oldestMs(), conversationKeptMs],
      [lists.notifications.oldestMs(), keptMs],
      [recordedMs, auditKeptMs],
      [lists.escalations.dueMs(kept), 0],
    ].map(([oldestMs = Infinity, forMs = 0]) => oldestMs + forMs),
  );
  return due === Infinity ? undefined : due + NEXT_DELETION_MS;
}

/** Deletes rows whose retention has ended. Contract: part of a transaction of the caller. */
export function deleteExpired(lists: KeptLists, kept: Retention, nowMs: number): void {
  const { keptMs, conversationKeptMs } = kept;
  const times = { endedBeforeMs: nowMs - keptMs, heardSinceMs: nowMs - SILENT_MS };
  lists.runs.forget(times, MAX_FORGOTTEN);
  lists.approvals.forget(nowMs - keptMs, MAX_FORGOTTEN);
  lists.conversations.forget(nowMs - conversationKeptMs, MAX_FORGOTTEN);
  lists.feedback.forget(nowMs - conversationKeptMs);
  lists.outcomes.forget(nowMs - keptMs);
  lists.escalations.forget(nowMs, kept, MAX_FORGOTTEN);
  lists.notifications.forget(nowMs - keptMs);
  lists.bytes.forget(nowMs);
  lists.usedNames.forget(nowMs - conversationKeptMs);
}
