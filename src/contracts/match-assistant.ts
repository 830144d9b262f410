import type { AssistantDocument } from "../protocol/assistant/document.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import { narrowPolicy } from "../protocol/policy/narrow.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import type { PolicyMismatch } from "./match-policy.ts";
import { createToolCatalog } from "./tool-catalog.ts";

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
  const { tools } = createToolCatalog(offer.specs, policy, { nowMs: offer.nowMs });
  const asked = (toolIds ?? []).map((id, index) => ({ id, pointer: `/toolIds/${index}` }));
  if (typeof toolChoice === "object") {
    asked.push({ id: toolChoice.tool, pointer: "/settings/toolChoice/tool" });
  }
  return asked.flatMap(({ id, pointer }) =>
    tools.has(id) ? [] : [{ pointer, message: "is not offered by policy and assistant" }],
  );
}
