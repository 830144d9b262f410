import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { listOrNone, nameOr } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { IN_BIN } from "../bin/remove-rows.ts";
import { getProject } from "./get-project.ts";
import { putIntoBin } from "../bin/put-into-bin.ts";
import { binItem } from "../entities/bin-item.ts";
import { readRevision, rowId } from "../entities/fields.ts";
import { projectCounts } from "../entities/project.ts";
import { defineOperation } from "interlock-edge/tools";
import { checkAuthor } from "../rows/check-author.ts";
import { countContents } from "./count-contents.ts";
import { TAKE_FROM_BIN } from "../row-args.ts";

/** A project goes into the bin as one row; what is in it comes back with it. */
export const deleteProject = defineOperation({
  name: "delete_project",
  kind: "write",
  input: v.strictObject({ projectId: rowId, revision: readRevision }),
  output: v.strictObject({ binItem, removed: projectCounts }),
  run(sql, { projectId: id, ...expected }, caller) {
    const removed = countContents(sql, id, caller.authorId);
    const binned = putIntoBin(sql, caller, {
      entity: "project",
      id,
      ...expected,
      check: (row) => checkAuthor(sql, caller, { entity: "project", row }),
    });
    return binned.ok ? ok({ binItem: binned.value, removed }) : binned;
  },
});

export const deleteProjectTool = gameplanTool(deleteProject, {
  description:
    "Deletes a project with everything in it. A person approves it, and can restore it for 30 days. Only its owners may delete it.",
  service: "projectService",
  mutationType: "delete",
  done: ({ binItem: { name } }) => `Deleted project "${name}"`,
  risk: "MEDIUM_RISK_WRITE",
  consent: {
    describe: ({ projectId }, { project }) => ({
      action: `Delete project ${nameOr(project, projectId)}`,
      consequence:
        "The project and everything in it goes into the bin. It can be restored for 30 days.",
    }),
    shows: ["project", "author", "contents", "bin"],
    async preview({ projectId }, read) {
      const found = await read(getProject, { projectId });
      if (!found.ok) return undefined;
      const { project: shown, counts } = found.value;
      const contents = Object.entries(counts).flatMap(([name, n]) =>
        n > 0 ? [`${n} ${name}`] : [],
      );
      return {
        before: {
          project: shown.name,
          author: shown.createdBy,
          contents: listOrNone(contents),
        },
        after: IN_BIN,
      };
    },
  },
  undo: TAKE_FROM_BIN,
});
