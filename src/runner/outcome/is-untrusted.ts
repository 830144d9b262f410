import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { AuditPorts } from "./audit-call.ts";
import type { Conclusion, EndingCall } from "./conclusion.ts";

/**
 * The tool as its output counts: one that read rows which were written after text of others.
 * Threat: a note keeps what a stranger wrote, and an author vouches for the tool that reads notes.
 */
export function asRead(
  { invocations }: Pick<AuditPorts, "invocations">,
  tool: BoundToolRuntime,
  context: ToolInvocationContext,
): BoundToolRuntime {
  const { rowSources } = invocations.find(context) ?? {};
  return rowSources ? { ...tool, isOutputUntrusted: true } : tool;
}

/**
 * Tells whether the observation of a call, or the content beside it, may hold text that others
 * wrote. A call that a gate refused has only words of Interlock and the deployment; the gate
 * `state` asks the tool itself.
 */
export function isUntrusted(
  ports: Pick<AuditPorts, "invocations">,
  { tool, context }: EndingCall,
  { outcome, content = [], grounds }: Conclusion,
): boolean {
  if (!tool || !asRead(ports, tool, context).isOutputUntrusted) return false;
  if (outcome.ok) return !tool.isOutputTextFree || content.length > 0;
  const wasAsked = (ports.invocations.find(context)?.dispatches ?? 0) > 0;
  return wasAsked || grounds?.gates?.refusedBy === "state";
}
