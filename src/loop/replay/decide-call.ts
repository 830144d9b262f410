import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { rulesFor } from "../../protocol/policy/approval-rule.ts";
import { findBrokenRule } from "../../protocol/policy/argument-rule.ts";
import { callerRulesOf, mayCall } from "../../protocol/policy/callers.ts";
import { requirementsOf } from "../../protocol/policy/decide.ts";
import type { PolicyDecision } from "../../protocol/policy/dry-run.ts";
import { readMoved } from "../../protocol/tool/amount-field.ts";
import { askedTool, listAsks } from "../../runner/flow/asks.ts";
import { authorise } from "../../runner/gates/authorise.ts";
import { policyGate } from "../../runner/gates/check-allowed.ts";
import { checkArgumentRules } from "../../runner/gates/check-argument-rules.ts";
import { checkCaller } from "../../runner/gates/check-caller.ts";
import { checkData } from "../../runner/gates/check-data.ts";
import { checkDataFlow } from "../../runner/gates/check-data-flow.ts";
import { GateTrail, passAll, type PortsOf } from "../../runner/gates/gate.ts";
import type { PolicySubject } from "../../runner/gates/subjects.ts";

/** The gates of `obeyPolicy`, without the ceilings: those count what other calls have used. */
const GATES = [
  policyGate,
  checkCaller,
  checkData,
  authorise,
  checkArgumentRules,
  checkDataFlow,
] as const;

export type DecisionPorts = PortsOf<typeof GATES>;

/** A call that fits its contract. */
export type DecidingCall = Pick<
  PolicySubject,
  "tool" | "args" | "operation" | "shownData" | "previewed"
>;

/** Decides about a call under one policy, and names the rules that decide. */
export async function decideCall(
  ports: DecisionPorts,
  call: DecidingCall,
  policy: ToolPolicy,
): Promise<PolicyDecision> {
  const trail = new GateTrail();
  const found = { connectionId: undefined, workspaceId: undefined, amounts: {} };
  const subject: PolicySubject = { ...call, ...found, terms: { policy } };
  const passed = await passAll<PolicySubject, DecisionPorts>(GATES, subject, { ports, trail });
  if (!passed.ok) {
    const gate = trail.results.refusedBy ?? "";
    const code = passed.failure.errors[0]?.code ?? "";
    const rules = rulesThatRefuse({ gate, policy }, call, ports);
    return { decision: "refused", gate, code, rules };
  }
  return decideApproval(ports, call, policy);
}

/** Points to the rules with which a gate refused; to their part of the document, where all do. */
function rulesThatRefuse(
  { gate, policy }: { readonly gate: string; readonly policy: ToolPolicy },
  { tool, args }: DecidingCall,
  { caller }: DecisionPorts,
): readonly string[] {
  const { argumentRules, callers } = policy;
  switch (gate) {
    case policyGate.name:
      return ["/allowedTools"];
    case checkCaller.name: {
      const unmet = callerRulesOf(policy, tool).filter(
        (rule) => !mayCall({ callers: [rule] }, tool, caller),
      );
      return unmet.map((rule) => `/callers/${callers.indexOf(rule)}`);
    }
    case checkData.name:
      return ["/dataClasses"];
    case checkArgumentRules.name: {
      const broken = argumentRules.findIndex((rule) => findBrokenRule([rule], tool.id, args));
      return [`/argumentRules/${broken}`];
    }
    case checkDataFlow.name:
      return ["/dataFlow"];
    default:
      return [];
  }
}

function decideApproval(
  { flow }: DecisionPorts,
  { tool, args, operation, previewed }: DecidingCall,
  policy: ToolPolicy,
): PolicyDecision {
  const evidence = flow.evidenceOf(operation, tool);
  const asks = listAsks(policy, { tool, args, evidence });
  const moved = readMoved(tool.amountField, { args, previewed });
  const required = requirementsOf(policy, { tool: askedTool(tool, asks), moved });
  if (required.length === 0) return { decision: "allowed" };
  const { approvals, requireApprovalForClasses, requireApprovalForEffects } = policy;
  const { rules } = rulesFor(approvals, { ...tool, moved });
  const pointers = [
    ...rules.map((rule) => `/approvals/${approvals.indexOf(rule)}`),
    ...(requireApprovalForEffects.includes(tool.spec.effect) ? ["/requireApprovalForEffects"] : []),
    ...(requireApprovalForClasses.includes(tool.sideEffectClass)
      ? ["/requireApprovalForClasses"]
      : []),
    ...(asks.length > 0 ? ["/dataFlow"] : []),
  ];
  const patterns = required.map(({ pattern }) => pattern);
  return { decision: "asks_people", patterns, rules: pointers };
}
