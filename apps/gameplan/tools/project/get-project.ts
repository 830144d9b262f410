import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { rowId } from "../entities/fields.ts";
import { project, projectCounts } from "../entities/project.ts";
import { defineOperation } from "interlock-edge/tools";
import { findProject } from "../rows/project-row.ts";
import { countContents } from "./count-contents.ts";

export const getProject = defineOperation({
  name: "get_project",
  kind: "read",
  input: v.strictObject({ projectId: rowId }),
  output: v.strictObject({ project, counts: projectCounts }),
  run(sql, { projectId }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    return ok({ project: found.value, counts: countContents(sql, projectId, caller.authorId) });
  },
});

export const getProjectTool = gameplanTool(getProject, {
  description:
    "Shows one project and how many systems, plans, brainstorms, threads and exports it has.",
  service: "projectService",
  done: ({ project: { name } }) => `Read project "${name}"`,
});
