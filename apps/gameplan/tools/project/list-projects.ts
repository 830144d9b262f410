import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { pageEntries } from "../entities/fields.ts";
import { project, projectStatus } from "../entities/project.ts";
import { listNewest, pageArguments } from "../list-page.ts";
import { defineOperation } from "interlock-edge/tools";
import { OWN_PROJECTS, PROJECT_COLUMNS, projectRow, toProject } from "../rows/project-row.ts";

export const listProjects = defineOperation({
  name: "list_projects",
  kind: "read",
  input: v.strictObject({ status: v.exactOptional(projectStatus), ...pageArguments }),
  output: v.strictObject({ items: v.array(project), ...pageEntries }),
  run: (sql, { status, ...page }, caller) =>
    ok(
      listNewest(sql, {
        row: v.object({ ...projectRow.entries, seq: v.number() }),
        columns: PROJECT_COLUMNS,
        table: "projects",
        where: status === undefined ? OWN_PROJECTS : `${OWN_PROJECTS} AND status = ?`,
        bindings: [caller.tenantId, caller.authorId, ...(status === undefined ? [] : [status])],
        page,
        show: toProject,
      }),
    ),
});

export const listProjectsTool = gameplanTool(listProjects, {
  description: "Lists the projects of the workspace, newest first. Use it to find a project id.",
  service: "projectService",
  done: ({ total }) => `Listed ${formatCount(total, "project")}`,
});
