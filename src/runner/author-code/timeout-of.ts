import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";

/** How long a function of a contract may take. Unit: milliseconds. */
export function timeoutOf(
  { budgets }: Pick<ToolPolicy, "budgets">,
  { timeoutMs }: Pick<BoundToolRuntime, "timeoutMs">,
): number {
  return Math.min(timeoutMs, budgets.maxRuntimeMs ?? timeoutMs);
}
