import { PATTERN_DEFAULTS } from "../../protocol/approval/requirement.ts";
import { callBudgetOf, findExhausted } from "../../protocol/budget/amounts.ts";
import { mostCost } from "../../protocol/budget/cost-of-call.ts";
import { findUnmeetableRules } from "../../protocol/policy/argument-rule.ts";
import { costCapsOf } from "../../protocol/policy/cost-cap.ts";
import type { AllowedTool, ToolPolicy } from "../../protocol/policy/document.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import type { PolicyMismatch } from "./mismatch.ts";
import type { RegisteredContract } from "../catalog/registered.ts";

type Contract = RegisteredContract["contract"];

/**
 * Finds terms of a policy that no call can meet: an allowed tool without budget, in another
 * currency or without a grant for its connection, and argument rules that contradict each other.
 * Such a policy is valid; it only allows less than it seems to.
 * Contract: pure; messages repeat nothing from the policy.
 */
export function warnAbout(
  policy: ToolPolicy,
  contracts: readonly RegisteredContract[],
): readonly PolicyMismatch[] {
  return [
    ...policy.allowedTools.flatMap((entry, index) => {
      const versions = contracts
        .map(({ contract }) => contract)
        .filter((contract) => isNamed(entry, contract));
      const [first = [], ...others] = versions.map((contract) => obstaclesOf(policy, contract));
      return first
        .filter((message) => others.every((messages) => messages.includes(message)))
        .map((message) => ({ pointer: `/allowedTools/${index}`, message }));
    }),
    ...policy.approvals.flatMap((rule, index) => {
      if (!rule.amount && !rule.limits) return [];
      const movesNone = ({ contract }: RegisteredContract): boolean =>
        rule.tools?.includes(contract.name) === true && contract.amountField === undefined;
      const message = "a tool of this rule declares no amount of money, see amountField";
      return contracts.some(movesNone) ? [{ pointer: `/approvals/${index}`, message }] : [];
    }),
    ...findUnmeetableRules(policy.argumentRules).map((index) => ({
      pointer: `/argumentRules/${index}`,
      message: "no value meets this rule and the rules before it on this field",
    })),
    ...warnAboutUpstreams(policy, contracts),
  ];
}

function warnAboutUpstreams(
  { dataClasses, regions }: ToolPolicy,
  contracts: readonly RegisteredContract[],
): readonly PolicyMismatch[] {
  const known = new Set(contracts.flatMap(({ spec }) => spec.destinations));
  const find = (
    section: string,
    rules: Readonly<
      Record<string, { readonly upstreams?: readonly string[] | undefined } | undefined>
    >,
  ): readonly PolicyMismatch[] =>
    Object.entries(rules).flatMap(([id, rule]) =>
      (rule?.upstreams ?? []).flatMap((name, at) =>
        known.has(name)
          ? []
          : [{ pointer: `/${section}/${id}/upstreams/${at}`, message: "no tool reaches it" }],
      ),
    );
  return [...find("dataClasses", dataClasses), ...find("regions", regions)];
}

/**
 * Finds roles of a policy that no known person has. `roles` undefined: tokens of an issuer may hold
 * any role. Contract: as above.
 */
export function warnAboutRoles(
  {
    approvals,
    callers,
    callerLimits = {},
    dataClasses,
    workspaces,
    budgetRaises,
  }: Pick<
    ToolPolicy,
    "approvals" | "callers" | "callerLimits" | "dataClasses" | "workspaces" | "budgetRaises"
  >,
  roles: ReadonlySet<string> | undefined,
): readonly PolicyMismatch[] {
  if (!roles) return [];
  const missing = (pointer: string, named: readonly string[]): readonly PolicyMismatch[] =>
    named.flatMap((role, at) =>
      roles.has(role)
        ? []
        : [{ pointer: `${pointer}/roles/${at}`, message: "no known person has this role" }],
    );
  const unknownIn = (limits: object, pointer: string): readonly PolicyMismatch[] =>
    Object.keys(limits).flatMap((role) =>
      roles.has(role)
        ? []
        : [{ pointer: `${pointer}/${role}`, message: "no known person has this role" }],
    );
  return [
    ...unknownIn(callerLimits, "/callerLimits"),
    ...approvals.flatMap(({ roles: named, limits, pattern }, index) => {
      if (limits) {
        return [
          ...missing(`/approvals/${index}`, named ?? []),
          ...unknownIn(limits, `/approvals/${index}/limits`),
        ];
      }
      if (named) return missing(`/approvals/${index}`, named);
      const usual = PATTERN_DEFAULTS[pattern].roles;
      if (usual.length === 0 || usual.some((role) => roles.has(role))) return [];
      const message = "no known person has a role of this pattern";
      return [{ pointer: `/approvals/${index}/pattern`, message }];
    }),
    ...callers.flatMap(({ roles: named = [] }, index) => missing(`/callers/${index}`, named)),
    ...Object.entries(dataClasses).flatMap(([id, rule]) =>
      missing(`/dataClasses/${id}`, rule?.roles ?? []),
    ),
    ...missing("/budgetRaises", budgetRaises?.roles ?? []),
    ...Object.entries(workspaces).flatMap(([id, members]) =>
      missing(`/workspaces/${id}`, members.roles),
    ),
  ];
}

function isNamed({ id, versions, canary }: AllowedTool, { name, version }: Contract): boolean {
  if (id !== name) return false;
  return versions === undefined || versions.includes(version) || canary?.version === version;
}

function obstaclesOf(policy: ToolPolicy, contract: Contract): readonly string[] {
  const { name, effect, sideEffectClass, amountField, requiresConnection, runtime } = contract;
  const { currency, perCall } = runtime.cost;
  const needs = { [callBudgetOf(sideEffectClass)]: 1, cost: mostCost(runtime) };
  const messages = (["budgets", "tenantBudgets"] as const).flatMap((section) => {
    const budget = findExhausted(limitsOf(policy[section]), {}, needs);
    return budget === undefined ? [] : [`no call can run: ${section} leaves no ${budget} budget`];
  });
  const tool = { id: name, effect, sideEffectClass };
  if (costCapsOf(policy, tool).some(({ max }) => needs.cost > max)) {
    messages.push("no call can run: costCaps leave less than one call costs");
  }
  if (currency !== policy.currency && (perCall > 0 || amountField !== undefined)) {
    const calls = perCall > 0 ? "call" : "call that moves money";
    messages.push(`no ${calls} can run: the tool counts money in another currency`);
  }
  if (requiresConnection && !policy.grants.some(({ tools }) => tools.includes(name))) {
    messages.push("no call can run: no grant gives the tool a connection");
  }
  return messages;
}
