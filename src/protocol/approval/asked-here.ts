import type { ApprovalSummary } from "./view.ts";

/** The reader of a run is the person for whom it acts; others answer on a page of their own. */
export function isAskedHere({ requirements }: ApprovalSummary): boolean {
  return requirements.some(({ onlyRequester }) => onlyRequester);
}
