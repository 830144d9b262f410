import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { activity, activityEntries } from "../entities/activity.ts";
import { pageEntries, rowId } from "../entities/fields.ts";
import { toIso } from "../iso-time.ts";
import { listNewest, pageArguments } from "../list-page.ts";
import { defineOperation } from "interlock-edge/tools";
import { findProject } from "../rows/project-row.ts";

const activityRow = v.object({
  ...activityEntries,
  at: v.number(),
  seq: v.number(),
  runId: v.nullable(v.string()),
  toolCallId: v.nullable(v.string()),
});

export const getProjectActivity = defineOperation({
  name: "get_project_activity",
  kind: "read",
  input: v.strictObject({ projectId: rowId, ...pageArguments }),
  output: v.strictObject({ items: v.array(activity), ...pageEntries }),
  run(sql, { projectId, ...page }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    return ok(
      listNewest(sql, {
        row: activityRow,
        columns: `id, at, actor, action, entity, entity_id AS entityId, summary,
          run_id AS runId, call_id AS toolCallId`,
        table: "activity",
        where: "project_id = ?",
        bindings: [projectId],
        page,
        show: ({ runId, toolCallId, at, ...line }) => ({
          ...line,
          at: toIso(at),
          ...(line.actor === caller.authorId &&
            runId !== null &&
            toolCallId !== null && { call: { runId, toolCallId } }),
        }),
      }),
    );
  },
});

export const getProjectActivityTool = gameplanTool(getProjectActivity, {
  description: "Shows who changed what in a project, newest first.",
  service: "projectService",
  done: ({ total }) => `Read ${formatCount(total, "activity")}`,
});
