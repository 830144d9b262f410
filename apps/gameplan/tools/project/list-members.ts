import * as v from "valibot";
import { defineOperation, ok } from "interlock-edge/tools";
import { revision, rowId } from "../entities/fields.ts";
import { member } from "../entities/member.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { isOwner, readMembers } from "../rows/member-rows.ts";
import { findProject } from "../rows/project-row.ts";

/** Owners first. The line of everybody holds for all members of the workspace without their own. */
export const listMembers = defineOperation({
  name: "list_members",
  kind: "read",
  input: v.strictObject({ projectId: rowId }),
  output: v.strictObject({
    /** Of the project: a change of its members names it. */
    revision,
    items: v.array(member),
    /** The caller may change them. */
    isOwner: v.boolean(),
  }),
  run(sql, { projectId }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    return ok({
      revision: found.value.revision,
      items: readMembers(sql, projectId),
      isOwner: isOwner(sql, projectId, caller.authorId),
    });
  },
});

export const listMembersTool = gameplanTool(listMembers, {
  description: "Lists who is in a project.",
  service: "projectService",
  done: () => "Listed who is in a project",
  isHidden: true,
});
