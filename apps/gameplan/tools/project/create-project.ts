import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { nameText } from "../entities/fields.ts";
import { EVERYBODY } from "../entities/member.ts";
import { project } from "../entities/project.ts";
import { defineOperation } from "interlock-edge/tools";
import { addRow } from "../rows/add-row.ts";
import { findProject } from "../rows/project-row.ts";
import { rowArgs } from "../row-args.ts";

const { entries } = project;

/** What people write about a project beside its name. */
export const projectFields = {
  description: v.exactOptional(entries.description),
  genre: v.exactOptional(
    v.pipe(entries.genre, v.description('For example "roguelike deck builder".')),
  ),
  platform: v.exactOptional(
    v.pipe(entries.platform, v.description('For example "PC and Switch".')),
  ),
  status: v.exactOptional(entries.status),
};

export const createProject = defineOperation({
  name: "create_project",
  kind: "write",
  input: v.strictObject({ name: nameText, ...projectFields }),
  output: v.strictObject({ project }),
  run(sql, args, caller) {
    const { name, description = "", genre = "", platform = "", status = "concept" } = args;
    const id = addRow(sql, caller, {
      entity: "project",
      columns: {
        tenant_id: caller.tenantId,
        name,
        description,
        genre,
        platform,
        status,
        updated_at: caller.nowMs,
        members: JSON.stringify({ [caller.authorId]: "owner", [EVERYBODY]: "member" }),
      },
      summary: `Created project "${name}"`,
    });
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
