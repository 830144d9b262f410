import type { AuditPorts } from "./audit-call.ts";
import type { Conclusion, EndingCall } from "./conclusion.ts";

/**
 * Tells whether the observation of a call, or the content beside it, may hold text that others
 * wrote. A call that a gate refused has only words of Interlock and the deployment; the gate
 * `state` asks the tool itself.
 */
export function isUntrusted(
  { invocations }: Pick<AuditPorts, "invocations">,
  { tool, context }: EndingCall,
  { outcome, content = [], grounds }: Conclusion,
): boolean {
  if (!tool?.isOutputUntrusted) return false;
  if (outcome.ok) return !tool.isOutputTextFree || content.length > 0;
  const wasAsked = (invocations.find(context)?.dispatches ?? 0) > 0;
  return wasAsked || grounds?.gates?.refusedBy === "state";
}
