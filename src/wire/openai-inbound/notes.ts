import type { ApprovalSummary } from "../../protocol/approval/view.ts";
import type { AiEvent } from "../../protocol/run/event.ts";

/** Finds the address where people answer an approval. */
export type ApprovalLink = (approval: ApprovalSummary) => string;

/** Says in words that the run waits for people; undefined for every other event. Contract: pure. */
export function formatNote(event: AiEvent, linkOf: ApprovalLink): string | undefined {
  if (event.type === "tool_call_waiting") {
    return "An operator must settle the outcome of a call. The run goes on after that.";
  }
  if (event.type !== "approval_requested") return undefined;
  const { approval, lines } = event;
  const question = lines.find(({ field }) => field === "question");
  if (question) return `${question.text} Answer: ${linkOf(approval)}`;
  return `"${approval.title}" waits for an approval: ${linkOf(approval)}`;
}
