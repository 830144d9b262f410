import type { RunId } from "../../../src/protocol/identity/ids.ts";
import type { KeptLists } from "./retention.ts";

/** Deletes what the lists hold of a run. The audit log keeps its records. */
export function eraseRun(
  { runs, approvals, outcomes, escalations, notifications }: KeptLists,
  runId: RunId,
): void {
  runs.erase(runId);
  approvals.erase(runId);
  outcomes.replace(runId, []);
  escalations.erase(runId);
  notifications.erase(runId);
}

/** Deletes what the lists hold of the conversation that begins with a run. */
export function eraseConversation(
  { conversations, feedback }: KeptLists,
  conversationId: RunId,
): void {
  conversations.erase(conversationId);
  feedback.erase(conversationId);
}
