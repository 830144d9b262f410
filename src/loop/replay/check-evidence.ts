import type { AiEvent } from "../../protocol/run/event.ts";
import type { NotReplayableReason } from "../../protocol/run/replay.ts";
import type { RunEvidence } from "./evidence.ts";

/** Tells why a run cannot be replayed; undefined when its evidence allows a replay. */
export function checkEvidence({
  claim,
  policy,
  laterPolicies = [],
  window,
  log,
  invocations,
  facts: { because },
}: RunEvidence): NotReplayableReason | undefined {
  const done = log.at(-1);
  if (done?.type !== "done" || invocations.some(({ end }) => !end)) return "unfinished";
  if (claim.history && window?.kind !== "window") {
    return window?.kind === "changed" ? "history_changed" : "history_erased";
  }
  const policies = [policy, ...laterPolicies];
  if (policies.some((one) => one.deniedBecause === "unreadable")) return "policy_unavailable";
  if (done.error?.code === "internal_error") return "broken";
  if (done.error?.code.startsWith("context_")) return "context";
  const isStopped = because !== undefined && "stopped" in because;
  const isRefusedLater = log.some(isCutOff) && !done.error?.code.startsWith("upstream_");
  return isRefusedLater && !isStopped ? "interrupted" : undefined;
}

function isCutOff(event: AiEvent): boolean {
  return event.type === "step_finished" && event.finish === "error";
}
