import * as v from "valibot";
import { defineOperation, ok } from "interlock-edge/tools";
import { revision, rowId } from "../entities/fields.ts";
import { versionPlan } from "../entities/version-plan.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { findPlan } from "../rows/plan-row.ts";
import { replacePhases } from "./add-plan.ts";
import { checkDraft } from "./delete-version-plan.ts";

/** Takes back the phases of a draft that nobody changed since. */
export const clearPlanPhases = defineOperation({
  name: "clear_plan_phases",
  kind: "write",
  input: v.strictObject({ planId: rowId, revision }),
  output: v.strictObject({ plan: versionPlan }),
  run(sql, { planId: id, revision: expected }, caller) {
    const found = findPlan(sql, caller, { id, revision: expected });
    if (!found.ok) return found;
    const draft = checkDraft(sql, id);
    if (!draft.ok) return draft;
    replacePhases(sql, id, []);
    caller.announce({ entity: "version_plan", id });
    const plan = findPlan(sql, caller, { id });
    return plan.ok ? ok({ plan: plan.value }) : plan;
  },
});

export const clearPlanPhasesTool = gameplanTool(clearPlanPhases, {
  description: "Takes back the phases of a draft.",
  service: "versionPlanService",
  mutationType: "update",
  done: ({ plan: { version } }) => `Removed the phases of version plan ${version}`,
  isHidden: true,
});
