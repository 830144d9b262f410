import type { ApprovalSummary } from "./view.ts";

/**
 * Tells whether the reader of a run answers with yes or no. The reader is the person for whom the
 * run acts; others answer on a page of their own. A question takes more than a yes.
 */
export function isAskedHere({ asks, requirements }: ApprovalSummary): boolean {
  return !asks && requirements.some(({ onlyRequester }) => onlyRequester);
}
