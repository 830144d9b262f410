import type { HistoryReference } from "../conversation/turn.ts";
import type { RunClaim } from "./claim.ts";
import type { RunFacts } from "./facts.ts";

/** The earlier turns that a run's model is shown: those of its claim, or those with its summary. */
export function historyShown(
  { history }: Pick<RunClaim, "history">,
  { summary }: Pick<RunFacts, "summary">,
): HistoryReference | undefined {
  return summary?.history ?? history;
}
