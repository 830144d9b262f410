import * as v from "valibot";
import { toMillionths } from "../budget/millionths.ts";
import { money, windowSeconds } from "./fields.ts";
import { selectorFields, selects, type SelectedTool, type ToolSelector } from "./selector.ts";

/** Accepts a cap of what calls of the selected tools may cost together, within a window. */
export const costCap = v.strictObject({
  ...selectorFields,
  maxCost: money,
  windowSeconds: v.optional(windowSeconds, 86_400),
});

type CostCapRule = v.InferOutput<typeof costCap>;

/** A cap as the tenant's object counts it. */
export interface CostCap extends ToolSelector {
  /** Unit: millionths of the policy's currency. */
  readonly max: number;
  readonly windowSeconds: number;
}

/** Lists the caps of a policy that count a tool. Contract: pure. */
export function costCapsOf(
  { costCaps }: { readonly costCaps: readonly CostCapRule[] },
  tool: SelectedTool,
): readonly CostCap[] {
  return costCaps
    .filter((cap) => selects(cap, tool))
    .map(({ maxCost, ...cap }) => Object.assign(cap, { max: toMillionths(maxCost) }));
}
