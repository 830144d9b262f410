import { WITHHELD_FAILURE } from "../../runner/finalise.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { areVotesAlone } from "./approvals.ts";
import { endOfStop } from "../run-end.ts";
import type { NotReplayableReason } from "../../protocol/run/replay.ts";
import type { RunEvidence } from "./evidence.ts";

/** Tells why a run cannot be replayed; undefined when its evidence allows a replay. */
export function checkEvidence({
  claim,
  policy,
  window,
  log,
  invocations,
  approvals,
}: RunEvidence): NotReplayableReason | undefined {
  const done = log.at(-1);
  if (done?.type !== "done" || invocations.some(({ end }) => !end)) return "unfinished";
  if (claim.history && window?.kind !== "window") {
    return window?.kind === "changed" ? "history_changed" : "history_erased";
  }
  if (policy.deniedBecause === "unreadable") return "policy_unavailable";
  if (isStopped(done)) return "stopped";
  if (done.error?.code === "internal_error") return "broken";
  if (done.error?.code.startsWith("context_")) return "context";
  if (log.some(isCutOff) && !done.error?.code.startsWith("upstream_")) return "interrupted";
  if (invocations.some(wasAsked)) return "operator";
  if (!areVotesAlone({ approvals, invocations, policy })) return "people";
  return invocations.some(isWithheld) ? "vetoed" : undefined;
}

function isStopped({ reason, error }: Extract<AiEvent, { type: "done" }>): boolean {
  if (reason === "cancelled") return true;
  return (["time", "storage", "interrupted"] as const).some(
    (stop) => endOfStop(stop).error?.message === error?.message && error !== undefined,
  );
}

function isCutOff(event: AiEvent): boolean {
  return event.type === "step_finished" && event.finish === "error";
}

function wasAsked({ awaitedUntilMs, resolution, state }: ToolInvocationRecord): boolean {
  return awaitedUntilMs !== undefined || resolution !== undefined || state === "EXPIRED";
}

/** The record does not hold an outcome that a hook kept from the model. */
function isWithheld({ state, end }: ToolInvocationRecord): boolean {
  const { status, result_payload: payload } = end?.observation ?? {};
  if (state === "COMPLETED" && status?.is_error) {
    return status.taxonomy_class !== "OBSERVATION_NORMALIZATION_FAIL";
  }
  return payload?.errors[0]?.message.startsWith(WITHHELD_FAILURE) ?? false;
}
