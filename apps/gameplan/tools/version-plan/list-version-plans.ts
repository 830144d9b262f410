import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { pageEntries, rowId } from "../entities/fields.ts";
import { planStatus, planSummary } from "../entities/version-plan.ts";
import { listNewest, pageArguments } from "../list-page.ts";
import { defineOperation } from "interlock-edge/tools";
import { PLAN_COLUMNS, planRow, toPlanSummary } from "../rows/plan-row.ts";
import { findProject } from "../rows/project-row.ts";

export const listVersionPlans = defineOperation({
  name: "list_version_plans",
  kind: "read",
  input: v.strictObject({
    projectId: rowId,
    status: v.exactOptional(planStatus),
    ...pageArguments,
  }),
  output: v.strictObject({ items: v.array(planSummary), ...pageEntries }),
  run(sql, { projectId, status, ...page }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const live = "project_id = ? AND deleted_at IS NULL";
    return ok(
      listNewest(sql, {
        row: v.object({ ...planRow.entries, seq: v.number() }),
        columns: PLAN_COLUMNS,
        table: "plans",
        where: status === undefined ? live : `${live} AND status = ?`,
        bindings: [projectId, ...(status === undefined ? [] : [status])],
        page,
        show: toPlanSummary,
      }),
    );
  },
});

export const listVersionPlansTool = gameplanTool(listVersionPlans, {
  description: "Lists the version plans of a project, newest first.",
  service: "versionPlanService",
  done: ({ total }) => `Listed ${formatCount(total, "version plan")}`,
});
