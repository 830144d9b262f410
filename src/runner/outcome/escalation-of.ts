import { DENIALS, type EscalationReason } from "../../protocol/escalation/escalation.ts";
import type { ResponseVector } from "../../protocol/outcome/response-vector.ts";
import type { SideEffectClass } from "../../protocol/tool/effect.ts";
import type { Conclusion, EndingCall } from "./conclusion.ts";

const HIGH_RISK: ReadonlySet<SideEffectClass | undefined> = new Set([
  "HIGH_RISK_EXTERNAL",
  "CRITICAL_MUTATION",
] satisfies SideEffectClass[]);

/**
 * Tells why a person must look at a call that ended; undefined for most calls. What a person
 * refused, nobody has to look at again.
 * Contract: pure; every response that says `escalate` has a reason, but for an undo, which is
 * listed with the call that it did not undo.
 */
export function escalationOf(
  { toolCall, tool }: Pick<EndingCall, "toolCall" | "tool">,
  { dispatchState, grounds }: Pick<Conclusion, "dispatchState" | "grounds">,
  { error_code: taxonomyClass, escalate, next_action: next }: ResponseVector,
): EscalationReason | undefined {
  if (next === "reconcile_outcome") return "unknown_outcome";
  if (taxonomyClass === "COMPENSATION_FAILED") {
    return toolCall.origin === "undo" || tool?.saga ? undefined : "compensation_failed";
  }
  if (escalate) return "broken_output";
  const isDenied = DENIALS.has(taxonomyClass) && !dispatchState.dispatched;
  if (isDenied) {
    const isByPeople = grounds?.gates?.refusedBy === "approval";
    return !isByPeople && HIGH_RISK.has(tool?.sideEffectClass) ? "high_risk_refusal" : undefined;
  }
  return dispatchState.repairEnded ? "repairs_exhausted" : undefined;
}
