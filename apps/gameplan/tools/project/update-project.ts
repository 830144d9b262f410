import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { changeFields } from "../change-fields.ts";
import { nameText, revision, rowId } from "../entities/fields.ts";
import { project } from "../entities/project.ts";
import { defineOperation } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { findLive } from "../rows/entity-row.ts";
import { findProject } from "../rows/project-row.ts";
import { refuse } from "../refuse.ts";
import { projectFields } from "./create-project.ts";
import { rowArgs } from "../row-args.ts";

export const updateProject = defineOperation({
  name: "update_project",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    revision: v.exactOptional(revision),
    name: v.exactOptional(nameText),
    ...projectFields,
  }),
  output: v.strictObject({ project }),
  run(sql, { projectId, revision: expected, ...next }, caller) {
    if (Object.keys(next).length === 0) return refuse("validation", "Nothing would change.");
    const live = findLive(sql, caller, {
      entity: "project",
      id: projectId,
      ...(expected !== undefined && { revision: expected }),
    });
    if (!live.ok) return live;
    const row = live.value;
    const entry = changeFields(sql, caller, { entity: "project", row, next, summary: "Updated" });
    if (!entry.ok) return entry;
    recordChange(sql, caller, {
      projectId,
      action: "updated",
      entity: "project",
      id: projectId,
      summary: `Updated ${entry.value.fields.join(", ") || "nothing"} of project "${next.name ?? row.name}"`,
    });
    const changed = findProject(sql, caller, projectId);
    return changed.ok ? ok({ project: changed.value }) : changed;
  },
});

export const updateProjectTool = gameplanTool(updateProject, {
  description:
    "Changes name, description, genre, platform or status of a project. Give only the fields that change; an empty text removes a text.",
  service: "projectService",
  mutationType: "update",
  done: ({ project: { name } }) => `Updated project "${name}"`,
  undo: {
    tool: "revert",
    args: ({ project: changed }) => rowArgs("project", changed),
  },
});
