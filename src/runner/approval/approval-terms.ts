import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import {
  requirementsUnderBoth,
  type ApprovalRequirement,
} from "../../protocol/approval/requirement.ts";
import type { ShownStates } from "../../protocol/approval/packet.ts";
import type { ApprovalTerms } from "../../protocol/approval/terms.ts";
import { callBudgetOf, lowerLimits, type Budget } from "../../protocol/budget/amounts.ts";
import { mostCost } from "../../protocol/budget/cost-of-call.ts";
import type { ConnectionId } from "../../protocol/identity/ids.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { callerRulesOf } from "../../protocol/policy/callers.ts";
import { costCapsOf } from "../../protocol/policy/cost-cap.ts";
import { dataRuleOf } from "../../protocol/policy/data-classes.ts";
import { entryOf, requirementsOf } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import { readMoved } from "../../protocol/tool/amount-field.ts";
import type { FlowEvidence } from "../../protocol/policy/data-flow.ts";
import { sorted } from "../../protocol/text/sorted.ts";
import { askedTool, listAsks } from "../flow/asks.ts";
import { slowerOf } from "../budget/slower-of.ts";

/** A call, and the two policies that it has passed. */
export interface CallUnderPolicies {
  /** The policy that the run pinned: its ceiling. */
  readonly pinned: ToolPolicy;
  readonly current: ToolPolicy;
  readonly tool: BoundToolRuntime;
  /** Validated. */
  readonly args: JsonObject;
  readonly previewed?: ShownStates | undefined;
  readonly connectionId: ConnectionId | undefined;
  readonly evidence: FlowEvidence | undefined;
}

/** Terms without the steps of a saga, which no policy changes. */
export type BoundedTerms = Required<Omit<ApprovalTerms, "steps">>;

/**
 * Computes the terms under which a call would be approved; undefined when neither policy asks for
 * an approval. Only what touches the call enters the terms, so another change of the policy leaves
 * its approval standing.
 */
export function approvalTermsOf(call: CallUnderPolicies): BoundedTerms | undefined {
  const { pinned, current, tool, connectionId } = call;
  const asks = [pinned, current].map((policy) => listAsks(policy, call));
  const requirements = requirementsOfCall(call, asks);
  if (requirements.length === 0) return undefined;
  const tenantLimits = limitsOfTool(tool, pinned.tenantBudgets, current.tenantBudgets);
  const { windowSeconds } = current.tenantBudgets;
  const isLimited = Object.keys(tenantLimits).length > 0;
  const bounds = {
    connectionId: connectionId ?? null,
    runLimits: limitsOfTool(tool, pinned.budgets, current.budgets),
    tenantLimits: { ...tenantLimits, ...(isLimited && { windowSeconds }) },
    rateLimit: rateLimitUnderBoth(call) ?? null,
    costCaps: joinRules(...[pinned, current].map((policy) => costCapsOfTool(policy, tool))),
    data: joinRules(
      [pinned, current].flatMap((policy) => dataRuleOf(policy, tool.spec.dataClass) ?? []),
    ),
    callers: joinRules(callerRulesOf(pinned, tool), callerRulesOf(current, tool)),
    dataFlow: sorted(new Set(asks.flat())),
  };
  return { toolVersion: tool.version, requirements, bounds };
}

/** What bounds a question, to which no policy applies; its call is bounded when it comes back. */
export const NO_BOUNDS: BoundedTerms["bounds"] = {
  connectionId: null,
  runLimits: {},
  tenantLimits: {},
  rateLimit: null,
  costCaps: [],
  data: [],
  callers: [],
  dataFlow: [],
};

/** Joins the rules of two policies that touch a call, as JSON: it has to meet all of them. */
function joinRules(...rules: readonly (readonly object[])[]): readonly string[] {
  return [...new Set(rules.flat().map((rule) => JSON.stringify(rule)))].toSorted();
}

function costCapsOfTool(policy: ToolPolicy, tool: BoundToolRuntime): readonly object[] {
  return mostCost(tool) > 0 ? costCapsOf(policy, tool) : [];
}

function requirementsOfCall(
  call: CallUnderPolicies,
  [asksFirst, asksNow]: readonly (readonly string[])[],
): readonly ApprovalRequirement[] {
  const { pinned, current, tool } = call;
  const moved = readMoved(tool.amountField, call);
  return requirementsUnderBoth(
    requirementsOf(pinned, { tool: askedTool(tool, asksFirst), moved }),
    requirementsOf(current, { tool: askedTool(tool, asksNow), moved }),
  );
}

function rateLimitUnderBoth({ pinned, current, tool }: CallUnderPolicies): JsonObject | undefined {
  const limit = slowerOf(entryOf(pinned, tool.id)?.rateLimit, entryOf(current, tool.id)?.rateLimit);
  return limit && { ...limit };
}

/** The lower limits of two policies, of the budgets that a tool can use. */
function limitsOfTool(
  { sideEffectClass, cost, amountField }: BoundToolRuntime,
  a: Parameters<typeof limitsOf>[0],
  b: Parameters<typeof limitsOf>[0],
): JsonObject {
  const used: readonly Budget[] = [
    callBudgetOf(sideEffectClass),
    ...(cost.perCall > 0 ? (["cost"] as const) : []),
    ...(amountField === undefined ? [] : (["financial"] as const)),
  ];
  const limits = lowerLimits(limitsOf(a), limitsOf(b));
  return Object.fromEntries(
    used.flatMap((budget) => {
      const limit = limits[budget];
      return limit === undefined ? [] : [[budget, limit]];
    }),
  );
}
