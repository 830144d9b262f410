import type { AssistantDocument } from "../../protocol/assistant/document.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { narrowPolicy } from "../../protocol/policy/narrow.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";
import type { PolicyMismatch } from "./mismatch.ts";
import { listOffered } from "../catalog/tool-catalog.ts";

/**
 * Finds the tools that an assistant names and its tenant's policy does not offer.
 * Contract: pure; messages repeat nothing from the document.
 */
export function matchAssistant(
  { settings: { toolChoice }, toolIds }: Pick<AssistantDocument, "settings" | "toolIds">,
  offer: {
    readonly specs: readonly ToolSpec[];
    readonly policy: ToolPolicy;
    readonly nowMs: number;
  },
): readonly PolicyMismatch[] {
  const policy = narrowPolicy(offer.policy, toolIds);
  const tools = listOffered(offer.specs, policy, { nowMs: offer.nowMs });
  const isMissing = new Map(
    (toolIds ?? []).map((id, index) => [`/toolIds/${index}`, !tools.has(id)]),
  );
  if (typeof toolChoice === "object") {
    isMissing.set("/settings/toolChoice/tool", tools.get(toolChoice.tool)?.shownToModel !== true);
  }
  return [...isMissing].flatMap(([pointer, missing]) =>
    missing ? [{ pointer, message: "is not offered by policy and assistant" }] : [],
  );
}
