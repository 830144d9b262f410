import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import { HISTORY_CHANGED, HISTORY_ERASED, type RunEnd } from "./run-end.ts";
import type { RunPorts } from "./run-scope.ts";

/**
 * Reads the window of earlier turns again: the model is shown the same one in every incarnation.
 * Fails: the run's end, when the window is gone or is another one by now. Throws when nobody can
 * tell, so the next incarnation tries again.
 */
export async function readHistory(
  { runId, workflowId, history }: RunClaim,
  { readWindow }: Pick<RunPorts, "readWindow">,
): Promise<Result<readonly TranscriptMessage[], RunEnd>> {
  const isKnown = workflowId !== undefined && history !== undefined;
  const answer = isKnown ? await readWindow?.(workflowId, runId, history) : undefined;
  if (answer?.kind === "window") return ok(answer.messages);
  return fail(answer?.kind === "changed" ? HISTORY_CHANGED : HISTORY_ERASED);
}
