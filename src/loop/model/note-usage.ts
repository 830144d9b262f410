import { addUsage, NO_USAGE, type Usage } from "../../protocol/model/usage.ts";
import type { RunScope } from "../run-scope.ts";

/** Notes what a model used that is not the model of the request, for the bill of the tenant. */
export function noteUsage(
  { claim, journal, state }: Pick<RunScope, "claim" | "journal" | "state">,
  model: string,
  usage: Usage | undefined,
): void {
  if (!usage || model === claim.model) return;
  const before = Object.hasOwn(state.usedByOthers, model) ? state.usedByOthers[model] : undefined;
  state.usedByOthers = { ...state.usedByOthers, [model]: addUsage(before ?? NO_USAGE, usage) };
  journal.note({ usedByOthers: state.usedByOthers });
}
