import * as v from "valibot";
import { defineOperation, ok } from "interlock-edge/tools";
import { revision, rowId } from "../entities/fields.ts";
import { versionPlan } from "../entities/version-plan.ts";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { refuse } from "../refuse.ts";
import { findPlan } from "../rows/plan-row.ts";
import { replacePhases } from "./add-plan.ts";
import { checkDraft } from "./delete-version-plan.ts";
import { findPhases, phasesInput } from "./draft-version-plan.ts";

/** Completes a draft. Its revision stays: until it has phases, the plan is being made. */
export const addPlanPhases = defineOperation({
  name: "add_plan_phases",
  kind: "write",
  input: v.strictObject({ planId: rowId, revision, phases: phasesInput }),
  output: v.strictObject({ plan: versionPlan }),
  run(sql, { planId: id, revision: expected, phases }, caller) {
    const found = findPlan(sql, caller, { id, revision: expected });
    if (!found.ok) return found;
    if (found.value.phases.length > 0)
      return refuse("conflict", "This plan has its phases already.", "/planId");
    const draft = checkDraft(sql, id);
    if (!draft.ok) return draft;
    const planned = findPhases(sql, found.value.projectId, phases);
    if (!planned.ok) return planned;
    replacePhases(sql, id, planned.value);
    caller.announce({ entity: "version_plan", id });
    const plan = findPlan(sql, caller, { id });
    return plan.ok ? ok({ plan: plan.value }) : plan;
  },
});

export const addPlanPhasesTool = gameplanTool(addPlanPhases, {
  description: "Adds the phases of a new draft.",
  service: "versionPlanService",
  mutationType: "update",
  done: ({ plan: { version, phases } }) =>
    `Added ${formatCount(phases.length, "phase")} to version plan ${version}`,
  undo: {
    tool: "clear_plan_phases",
    args: ({ plan: { id, revision: made } }) => ({ planId: id, revision: made }),
  },
  isHidden: true,
  maxArgumentsBytes: 32_768,
});
