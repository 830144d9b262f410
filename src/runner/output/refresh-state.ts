import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { previewStates, type PreviewPorts } from "../approval/preview-states.ts";
import type { ValiditySubject } from "../gates/subjects.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import { asRead } from "../outcome/is-untrusted.ts";
import { cleanForModel } from "./normalise-output.ts";

/** What refreshing takes of the run. */
export interface RefreshPorts extends PreviewPorts {
  readonly invocations: Pick<InvocationLedger, "find">;
}

/**
 * Adds the target's state to a failure of the class STALE_STATE, as `preview` of the contract reads
 * it now. The model plans again with it.
 * Contract: never throws. Without a preview, or where it does not answer, the failure stays as it
 * is.
 */
export async function refreshState(
  ports: RefreshPorts,
  subject: ValiditySubject,
  failure: ToolFailure,
): Promise<ToolFailure> {
  if (failure.taxonomyClass !== "STALE_STATE") return failure;
  const { beforeState } = await previewStates(ports, subject);
  if (!beforeState) return failure;
  const { context, scope } = subject.authority;
  const tool = asRead(ports, subject.tool, context);
  const { maxResultBytes = Infinity } = ports.policy.budgets;
  const maxBytes = Math.min(tool.maxResultBytes, maxResultBytes);
  const shown = cleanForModel({ tool, mask: scope.mask }, { value: beforeState, maxBytes });
  return shown.ok ? { ...failure, currentState: shown.value.value } : failure;
}
