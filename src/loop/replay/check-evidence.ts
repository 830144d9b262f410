import type { AiEvent } from "../../protocol/run/event.ts";
import type { NotReplayableReason } from "../../protocol/run/replay.ts";
import { cutStepOf } from "./crash.ts";
import type { RunEvidence } from "./evidence.ts";

/** Tells why a run cannot be replayed; undefined when its evidence allows a replay. */
export function checkEvidence({
  claim,
  policy,
  laterPolicies = [],
  window,
  log,
  invocations,
  facts,
  untilStep,
}: RunEvidence): NotReplayableReason | undefined {
  const last = log.at(-1);
  const done = last?.type === "done" ? last : undefined;
  const isWhole = done !== undefined || untilStep !== undefined;
  if (!isWhole || invocations.some(({ end }) => !end)) return "unfinished";
  if (claim.history && window?.kind !== "window") {
    return window?.kind === "changed" ? "history_changed" : "history_erased";
  }
  // The policy of the run could not be read by a later incarnation.
  if (done?.error?.code === "policy_unavailable") return "policy_unavailable";
  const policies = [policy, ...laterPolicies];
  if (policies.some((one) => one.deniedBecause === "unreadable")) return "policy_unavailable";
  if (done?.error?.code === "internal_error") return "broken";
  const isCut = cutStepOf({ log, facts }) !== undefined;
  return done && isCut && !isKnown(done, facts) ? "interrupted" : undefined;
}

/** Tells whether the records hold why a cut model call was not allowed again. */
function isKnown(
  { reason, error }: Extract<AiEvent, { readonly type: "done" }>,
  { because }: RunEvidence["facts"],
): boolean {
  return reason === "step_limit" || because !== undefined || error?.code === "budget_unavailable";
}
