import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { nameText } from "../entities/fields.ts";
import { project } from "../entities/project.ts";
import { defineOperation } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { findProject } from "../rows/project-row.ts";
import { rowArgs } from "../row-args.ts";

const { description, genre, platform, status } = project.entries;

/** What people write about a project beside its name. */
export const projectFields = {
  description: v.exactOptional(description),
  genre: v.exactOptional(v.pipe(genre, v.description('For example "roguelike deck builder".'))),
  platform: v.exactOptional(v.pipe(platform, v.description('For example "PC and Switch".'))),
  status: v.exactOptional(status),
};

export const createProject = defineOperation({
  name: "create_project",
  kind: "write",
  input: v.strictObject({ name: nameText, ...projectFields }),
  output: v.strictObject({ project }),
  run(sql, args, caller) {
    const id = caller.newId();
    sql.run(
      `INSERT INTO projects (id, project_id, revision, created_at, created_by, tenant_id, name,
         description, genre, platform, status, updated_at, members)
       VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, json_object(?, 'owner', '*', 'member'))`,
      id,
      id,
      caller.nowMs,
      caller.authorId,
      caller.tenantId,
      args.name,
      args.description ?? "",
      args.genre ?? "",
      args.platform ?? "",
      args.status ?? "concept",
      caller.nowMs,
      caller.authorId,
    );
    const summary = `Created project "${args.name}"`;
    recordChange(sql, caller, { projectId: id, action: "created", entity: "project", id, summary });
    const made = findProject(sql, caller, id);
    return made.ok ? ok({ project: made.value }) : made;
  },
});

export const createProjectTool = gameplanTool(createProject, {
  description: "Creates a game design project. Give at least a name.",
  service: "projectService",
  mutationType: "create",
  done: ({ project: { name } }) => `Created project "${name}"`,
  undo: {
    tool: "discard",
    args: ({ project: made }) => rowArgs("project", made),
  },
  example: {
    description: "A new game.",
    arguments: { name: "Dungeon Crawler", genre: "roguelike" },
  },
});
