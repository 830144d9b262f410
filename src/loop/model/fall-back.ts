import { actorsOf } from "../../protocol/identity/principal.ts";
import type { DeclaredModel } from "../../protocol/model/declaration.ts";
import type { ModelFailure } from "../../protocol/model/event.ts";
import type { ModelChange } from "../../protocol/run/event.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import { changeReasonOf } from "./failed-call.ts";
import { toolsShown } from "./relay-answer.ts";
import type { RunScope } from "../run-scope.ts";

/**
 * Finds the model that answers next in place of the one that failed; undefined when there is none.
 * Contract: pure. A run goes through its list once, in order, and never back.
 */
export function findFallback(scope: RunScope, failure: ModelFailure): ModelChange | undefined {
  const { claim, modelOf, state } = scope;
  const reason = changeReasonOf(failure);
  if (!reason) return undefined;
  const { fallback = [] } = modelOf(claim.model) ?? {};
  const following = fallback.slice(fallback.indexOf(state.model) + 1);
  const to = following.find((id) => {
    const model = modelOf(id);
    return model && canGoOn(model, scope);
  });
  return to === undefined ? undefined : { from: state.model, to, reason };
}

/** Tells whether a model can take the conversation of the run. */
function canGoOn({ can }: DeclaredModel, scope: RunScope): boolean {
  const { messages } = scope.state.transcript;
  const usesTools = toolsShown(scope).length > 0 || messages.some(({ role }) => role === "tool");
  return can.tools || !usesTools;
}

/** Tells readers and the audit log that another model answers from now on. */
export function reportChange(
  { clock, claim, journal }: Pick<RunScope, "clock" | "claim" | "journal">,
  change: ModelChange,
): void {
  const { from, to, reason } = change;
  journal.append([{ type: "model_changed", ...change }]);
  journal.audit({
    action: "model.changed",
    at: toIso(clock.nowMs()),
    ...actorsOf(claim.principal),
    runId: claim.runId,
    decision: `from ${from} to ${to}`,
    reason,
  });
}
