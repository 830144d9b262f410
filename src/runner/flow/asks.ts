import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { decideFlow, type FlowEvidence } from "../../protocol/policy/data-flow.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { sorted } from "../../protocol/text/sorted.ts";

/** A call, and what its run knows of its origin. */
export interface FlowCall {
  readonly tool: BoundToolRuntime;
  readonly args: JsonObject;
  readonly evidence: FlowEvidence | undefined;
}

/**
 * Lists why the data-flow rules of a policy ask people about a call. The arguments that a model
 * proposed count as well as those of an edit.
 * Threat: one of two approvers edits an argument, and so nobody has to approve it any more.
 */
export function listAsks(
  { dataFlow }: Pick<ToolPolicy, "dataFlow">,
  { tool, args, evidence }: FlowCall,
): readonly string[] {
  if (!evidence) return [];
  const asks = [args, evidence.isEdited ? evidence.proposed() : undefined].flatMap((one) => {
    const decision = one && decideFlow(dataFlow, { tool, args: one }, evidence);
    return decision?.kind === "pass" ? decision.asks : [];
  });
  return sorted(new Set(asks));
}

/** The tool as an approval rule sees it: one whose calls people have to approve. */
export function askedTool(tool: BoundToolRuntime, asks: readonly string[] = []): BoundToolRuntime {
  return asks.length > 0 ? { ...tool, confirmationRequired: true } : tool;
}
