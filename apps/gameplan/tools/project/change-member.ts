import * as v from "valibot";
import { defineOperation, ok } from "interlock-edge/tools";
import { changeFields } from "../change-fields.ts";
import { readRevision, revision, rowId } from "../entities/fields.ts";
import { EVERYBODY, member, type Member } from "../entities/member.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findLive } from "../rows/entity-row.ts";
import { readMembers } from "../rows/member-rows.ts";

const MOST_MEMBERS = 100;

/**
 * Says what a person may do in a project: owners invite, remove, and make others owners.
 * Threat: it only narrows what the policy gives. A person whom the policy keeps out of the
 * workspace stays out, whatever a project says.
 */
export const changeMember = defineOperation({
  name: "change_member",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    revision: readRevision,
    ...member.entries,
  }),
  output: v.strictObject({ projectId: rowId, revision, ...member.entries }),
  run(sql, { projectId, revision: expected, ...set }, caller) {
    const project = { entity: "project", id: projectId } as const;
    const found = findLive(sql, caller, { ...project, revision: expected });
    if (!found.ok) return found;
    const access = new Map(readMembers(sql, projectId).map((one) => [one.person, one.access]));
    if (access.get(set.person) === set.access) return refuse("validation", "Nothing would change.");
    if (set.person === EVERYBODY && set.access === "owner") {
      return refuse("validation", "An owner needs a name.", "/person");
    }
    access.set(set.person, set.access);
    const summary = sayChange(set);
    const next = { members: JSON.stringify(Object.fromEntries(access)) };
    const changed = changeFields(sql, caller, { ...project, row: found.value, next, summary });
    if (!changed.ok) return changed;
    // So who makes a change stays an owner: a name that nobody has may be another one. A refusal
    // takes back what was written.
    if (set.person === caller.authorId) {
      return refuse("conflict", "You are an owner. Another owner has to change that.", "/person");
    }
    if (access.size > MOST_MEMBERS) return refuse("conflict", "Too many people are named.");
    recordChange(sql, caller, { ...project, projectId, action: "updated", summary });
    // Who is out by now does not hear of the project.
    caller.announce({ entity: "member", id: set.person });
    return ok({ projectId, revision: changed.value.revision, ...set });
  },
});

/** A sentence in the past tense. */
function sayChange({ person, access }: Member): string {
  const name = person === EVERYBODY ? "everybody" : person.replace(/^user:/, "");
  return `Set the access of ${name} to ${access}`;
}

export const changeMemberTool = gameplanTool(changeMember, {
  description: "Says who is in a project.",
  service: "projectService",
  mutationType: "update",
  done: sayChange,
  risk: "MEDIUM_RISK_WRITE",
  undo: {
    tool: "revert",
    args: ({ projectId: id, revision: changed }) => ({ entity: "project", id, revision: changed }),
  },
  isHidden: true,
});
