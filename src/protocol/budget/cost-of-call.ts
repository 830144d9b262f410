import type { ToolInvocationRecord } from "../invocation/record.ts";
import type { CostUnit } from "../tool/contract-document.ts";
import type { BudgetAmounts } from "./amounts.ts";
import { toMillionths } from "./millionths.ts";

/** The price of a tool, of one call or of one second, in units of its currency. */
export interface ToolCost {
  readonly currency: string;
  readonly perCall: number;
  readonly unit: CostUnit;
}

/** A tool, and how often and how long its contract lets it try. */
interface PricedTool {
  readonly cost: ToolCost;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly retryForMs: number;
  readonly reconcile?: unknown;
}

/**
 * Computes the most that one call can cost, before it runs: with a price per second, the time of
 * all its attempts up to their deadlines. Unit: millionths.
 */
export function mostCost(tool: PricedTool): number {
  const { cost, maxRetries, retryForMs, timeoutMs } = tool;
  if (cost.unit !== "second") return toMillionths(cost.perCall);
  // A call that certainly did not happen is tried once more, even without retries.
  const attempts = 1 + Math.max(maxRetries, tool.reconcile ? 1 : 0);
  return costOfTime(cost, Math.max(attempts * timeoutMs, retryForMs + timeoutMs));
}

/**
 * Computes what a call has used whose tool costs by its time; undefined for all that it reserved.
 * Contract: never more than it reserved. Nobody measured an attempt that a crash cut short, so the
 * whole reservation counts.
 */
export function usedAmounts(
  tool: { readonly cost: ToolCost } | undefined,
  { amounts, dispatches, measured }: ToolInvocationRecord,
): BudgetAmounts | undefined {
  if (!tool || !amounts?.cost || !measured || measured.attempts < dispatches) return undefined;
  return { ...amounts, cost: Math.min(amounts.cost, costOfTime(tool.cost, measured.totalMs)) };
}

function costOfTime({ perCall }: ToolCost, ms: number): number {
  return toMillionths((perCall * ms) / 1_000);
}
