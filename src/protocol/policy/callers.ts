import { isDelegate, type Principal } from "../identity/principal.ts";
import type { DeclaredModel } from "../model/declaration.ts";
import type { RunClaim } from "../run/claim.ts";
import type { CallerRule } from "./caller-rule.ts";
import type { ToolPolicy } from "./document.ts";
import { selects, type SelectedTool } from "./selector.ts";

/** Who calls tools in a run, and who is shown what they return. */
export interface Caller extends Pick<Principal, "actorId" | "subjectId" | "roles"> {
  /** Absent in a call that no page and no assistant makes. */
  readonly assistantId?: string | undefined;
  /** Every model that may answer in the run. Empty: no model is asked. */
  readonly models: readonly string[];
}

/** The parts of a claim that name the caller. */
export type CallerClaim = Pick<RunClaim, "principal" | "assistant" | "model" | "ownModel" | "call">;

/** Reads the caller of a run. The roles are those with which the run began. Contract: pure. */
export function callerOf(
  { principal, assistant, model, ownModel, call }: CallerClaim,
  modelOf: (id: string) => Pick<DeclaredModel, "fallback"> | undefined,
): Caller {
  const { actorId, subjectId, roles } = principal;
  const { fallback = [] } = ownModel ?? modelOf(model) ?? {};
  const models = call ? [] : [model, ...fallback];
  return { actorId, subjectId, roles, assistantId: assistant?.id, models };
}

/** Lists the rules that a caller of the tool has to meet. */
export function callerRulesOf(
  { callers }: Pick<ToolPolicy, "callers">,
  tool: SelectedTool,
): readonly CallerRule[] {
  return callers.filter((rule) => selects(rule, tool));
}

/**
 * Tells whether the policy lets a caller use a tool, whatever its arguments are. Contract: pure.
 */
export function mayCall(
  policy: Pick<ToolPolicy, "callers">,
  tool: SelectedTool,
  caller: Caller,
): boolean {
  return callerRulesOf(policy, tool).every((rule) => meets(rule, caller));
}

/**
 * Threat: an agent with a role acts for a person without it. The roles of a token are those of its
 * actor, so the rule has to name the person, by id.
 */
function meets({ roles, actors, assistants }: CallerRule, caller: Caller): boolean {
  const { actorId, subjectId = actorId } = caller;
  const isNamed = actors?.includes(actorId) === true && actors.includes(subjectId);
  const hasRole = roles?.some((role) => caller.roles.includes(role)) ?? true;
  return (
    (actors === undefined || isNamed) &&
    hasRole &&
    (roles === undefined || !isDelegate(caller) || isNamed) &&
    (assistants === undefined ||
      (caller.assistantId !== undefined && assistants.includes(caller.assistantId)))
  );
}
