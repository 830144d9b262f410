import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { historyShown } from "../../protocol/run/history-shown.ts";
import { HISTORY_CHANGED, HISTORY_ERASED, type RunEnd } from "../run-end.ts";
import type { LoopInput, RunPorts } from "../run-scope.ts";

/** Gives what the claim holds of that; undefined when it has to be read again. */
export function claimedHistory({
  claim: { history, window },
  memory: { facts },
}: LoopInput): readonly TranscriptMessage[] | undefined {
  if (!history) return [];
  return facts.summary?.history ? undefined : window;
}

/**
 * Reads the window of earlier turns again: the model is shown the same one in every incarnation.
 * Fails: the run's end, when the window is gone or is another one by now. Throws when nobody can
 * tell, so the next incarnation tries again.
 */
export async function readHistory(
  { claim, memory: { facts } }: LoopInput,
  { conversationOf }: Pick<RunPorts, "conversationOf">,
): Promise<Result<readonly TranscriptMessage[], RunEnd>> {
  const { runId, workflowId } = claim;
  const history = historyShown(claim, facts);
  const isKnown = workflowId !== undefined && history !== undefined;
  const answer = isKnown
    ? await conversationOf?.(workflowId).readWindow(runId, history)
    : undefined;
  if (answer?.kind === "window") return ok(answer.messages);
  return fail(answer?.kind === "changed" ? HISTORY_CHANGED : HISTORY_ERASED);
}
