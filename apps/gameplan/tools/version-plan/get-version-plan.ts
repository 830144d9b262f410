import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { rowId } from "../entities/fields.ts";
import { scopeCheck, versionPlan } from "../entities/version-plan.ts";
import { defineOperation } from "interlock-edge/tools";
import { findPlan, systemIdsOf } from "../rows/plan-row.ts";
import { checkScope } from "./check-scope.ts";

export const getVersionPlan = defineOperation({
  name: "get_version_plan",
  kind: "read",
  input: v.strictObject({ planId: rowId }),
  output: v.strictObject({ plan: versionPlan, scope: scopeCheck }),
  run(sql, { planId }, caller) {
    const found = findPlan(sql, caller, { id: planId });
    if (!found.ok) return found;
    const plan = found.value;
    return ok({ plan, scope: checkScope(sql, plan.projectId, systemIdsOf(plan)).scope });
  },
});

export const getVersionPlanTool = gameplanTool(getVersionPlan, {
  description:
    "Shows a version plan with its phases and systems, and whether its scope is complete.",
  service: "versionPlanService",
  done: ({ plan: { version } }) => `Read version plan ${version}`,
});
