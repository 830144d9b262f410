import { mayLast } from "../../protocol/consent/lasting.ts";
import { fromPointer } from "../../protocol/json/pointer.ts";
import { isNaming } from "../../protocol/policy/approval-rule.ts";
import { entryOf, findWeakRules } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";
import { schemaAt } from "../../protocol/tool/schema-path.ts";
import { matchDataFlow } from "./match-data-flow.ts";
import type { PolicyMismatch } from "./mismatch.ts";

/** Registered specs by tool id. A tool may have several versions. */
type KnownTools = ReadonlyMap<string, readonly ToolSpec[]>;

/**
 * Finds the ids, versions and argument fields that a policy names and no registered tool has.
 * Contract: pure; messages repeat nothing from the policy.
 */
export function matchPolicy(
  policy: ToolPolicy,
  specs: readonly ToolSpec[],
): readonly PolicyMismatch[] {
  const known: KnownTools = Map.groupBy(specs, ({ name }) => name);
  return [
    ...matchAllowlist(policy, known),
    ...matchRules(policy, known),
    ...matchApprovals(policy, known),
    ...matchDataFlow(policy, known),
    ...matchRegions(policy),
    ...(["grants", "delegations", "callers", "costCaps"] as const).flatMap((section) =>
      policy[section].flatMap(({ tools = [] }, index) =>
        tools.flatMap((id, at) => matchTool(known, id, `/${section}/${index}/tools/${at}`)),
      ),
    ),
  ];
}

function matchRegions({ dataClasses, regions }: ToolPolicy): readonly PolicyMismatch[] {
  return Object.entries(dataClasses).flatMap(([id, rule]) =>
    (rule?.regions ?? []).flatMap((region, at) =>
      Object.hasOwn(regions, region)
        ? []
        : [{ pointer: `/dataClasses/${id}/regions/${at}`, message: "no such region" }],
    ),
  );
}

function matchAllowlist(policy: ToolPolicy, known: KnownTools): readonly PolicyMismatch[] {
  const seen = new Set<string>();
  return policy.allowedTools.flatMap(({ id, versions, canary }, index) => {
    const pointer = `/allowedTools/${index}`;
    // The first entry decides. A second entry would look as if it decided.
    const isRepeated = seen.has(id);
    seen.add(id);
    if (isRepeated) return [{ pointer, message: "this tool has an entry already" }];
    const unknown = matchTool(known, id, pointer);
    if (unknown.length > 0) return unknown;
    const isVersion = (version: string): boolean =>
      known.get(id)?.some((spec) => spec.version === version) === true;
    const message = "no such version";
    return [
      ...(versions ?? []).flatMap((version, at) =>
        isVersion(version) ? [] : [{ pointer: `${pointer}/versions/${at}`, message }],
      ),
      ...(canary && !isVersion(canary.version)
        ? [{ pointer: `${pointer}/canary/version`, message }]
        : []),
    ];
  });
}

function matchRules(policy: ToolPolicy, known: KnownTools): readonly PolicyMismatch[] {
  return policy.argumentRules.flatMap(({ tool, field }, index) => {
    const pointer = `/argumentRules/${index}`;
    const unknown = matchTool(known, tool, `${pointer}/tool`);
    if (unknown.length > 0) return unknown;
    return hasField(known, tool, field)
      ? []
      : [{ pointer: `${pointer}/field`, message: "no such field" }];
  });
}

function hasField(known: KnownTools, tool: string, field: string): boolean {
  const specs = known.get(tool) ?? [];
  return specs.some(({ inputSchema }) => schemaAt(inputSchema, fromPointer(field)) !== undefined);
}

/** Refuses rules that nobody can ever satisfy. */
function matchApprovals(policy: ToolPolicy, known: KnownTools): readonly PolicyMismatch[] {
  return policy.approvals.flatMap((rule, index) => {
    const pointer = `/approvals/${index}`;
    const { tools = [], pattern, required = 1, excludeRequester = false } = rule;
    const { approverIsNot = [], lasting } = rule;
    const isConsent = pattern === "user_consent";
    return [
      ...tools.flatMap((id, at) => matchTool(known, id, `${pointer}/tools/${at}`)),
      ...approverIsNot.flatMap((field, at) =>
        field.startsWith("/") && !tools.every((id) => hasField(known, id, field))
          ? [{ pointer: `${pointer}/approverIsNot/${at}`, message: "no such field" }]
          : [],
      ),
      ...(lasting?.sameFields ?? []).flatMap((field, at) =>
        tools.every((id) => hasField(known, id, field))
          ? []
          : [{ pointer: `${pointer}/lasting/sameFields/${at}`, message: "no such field" }],
      ),
      ...(lasting && tools.some((id) => !(known.get(id) ?? []).every(hasLastingClass))
        ? [{ pointer: `${pointer}/lasting`, message: "no consent to this tool lasts" }]
        : []),
      ...(isConsent && required > 1
        ? [{ pointer: `${pointer}/required`, message: "one person alone can consent" }]
        : []),
      ...(isConsent && excludeRequester
        ? [{ pointer: `${pointer}/excludeRequester`, message: "nobody else can consent" }]
        : []),
    ];
  });
}

function hasLastingClass({ sideEffectClass }: ToolSpec): boolean {
  return mayLast(sideEffectClass);
}

/** A critical mutation that no rule names, except by its class. */
const ANY_CRITICAL = { id: "", sideEffectClass: "CRITICAL_MUTATION" } as const;

/**
 * Finds the approval rules that are too weak for a critical mutation that they name, or for an
 * allowed one that no rule names, where no rule that applies with them is enough. Contract: pure.
 */
export function findWeakApprovals(
  policy: ToolPolicy,
  specs: readonly ToolSpec[],
): readonly PolicyMismatch[] {
  const tools = specs.map(({ name: id, sideEffectClass }) => ({ id, sideEffectClass }));
  const weak = new Set(
    [ANY_CRITICAL, ...tools].flatMap((tool) => {
      const isDecided = entryOf(policy, tool.id) !== undefined;
      return findWeakRules(policy, tool).filter((rule) => isDecided || isNaming(rule));
    }),
  );
  const message = "a critical mutation needs two people, or one with a role, and never a requester";
  return policy.approvals.flatMap((rule, index) =>
    weak.has(rule) ? [{ pointer: `/approvals/${index}`, message }] : [],
  );
}

function matchTool(known: KnownTools, id: string, pointer: string): readonly PolicyMismatch[] {
  return known.has(id) ? [] : [{ pointer, message: "no such tool" }];
}
