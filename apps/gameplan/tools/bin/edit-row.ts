import * as v from "valibot";
import { defineOperation, ok } from "interlock-edge/tools";
import { brainstormFields } from "../brainstorm/add-brainstorm.ts";
import { changeFields } from "../change-fields.ts";
import { EDITED } from "../entities/activity.ts";
import { brainstorm } from "../entities/brainstorm.ts";
import { dependencyType } from "../entities/dependency.ts";
import { longText, nameText, revision, rowId } from "../entities/fields.ts";
import { ideaThread } from "../entities/idea-thread.ts";
import { versionLabel } from "../entities/version-plan.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findLive, nameOf } from "../rows/entity-row.ts";
import { writePhases } from "../rows/row-fields.ts";
import { findPhases, phasesInput } from "../version-plan/draft-version-plan.ts";

const edited = v.picklist(EDITED);

/** The fields of each kind of row, and their names in sentences. */
const FIELDS: Readonly<Record<v.InferOutput<typeof edited>, Readonly<Record<string, string>>>> = {
  dependency: { type: "kind" },
  idea_thread: { title: "title", status: "state" },
  idea_message: { text: "text" },
  brainstorm: { title: "title", tags: "tags", outputs: "results", content: "notes" },
  version_plan: { version: "version", name: "name", goal: "goal", phases: "phases" },
};

/** Changes the kind of a dependency, or fields of a thread, a message, a brainstorm or a draft. */
export const editRow = defineOperation({
  name: "edit_row",
  kind: "write",
  input: v.strictObject({
    entity: edited,
    id: rowId,
    revision,
    title: v.exactOptional(nameText),
    status: v.exactOptional(ideaThread.entries.status),
    text: v.exactOptional(v.pipe(longText, v.regex(/\S/))),
    ...brainstormFields,
    content: v.exactOptional(brainstorm.entries.content),
    version: v.exactOptional(versionLabel),
    name: v.exactOptional(nameText),
    goal: v.exactOptional(longText),
    phases: v.exactOptional(phasesInput),
    type: v.exactOptional(dependencyType),
  }),
  output: v.strictObject({
    entity: edited,
    id: rowId,
    projectId: rowId,
    name: v.string(),
    revision,
  }),
  run(sql, { entity, id, revision: expected, phases, ...given }, caller) {
    const found = findLive(sql, caller, { entity, id, revision: expected });
    if (!found.ok) return found;
    const row = found.value;
    const fields = Object.keys({ ...given, ...(phases && { phases }) });
    if (fields.length === 0) return refuse("validation", "Nothing would change.");
    const words = fields.map((field) => FIELDS[entity][field]);
    const foreign = words.indexOf(undefined);
    if (foreign >= 0) {
      return refuse(
        "validation",
        `This is no field of a ${nameOf(entity)}.`,
        `/${fields[foreign]}`,
      );
    }
    const planned = phases && findPhases(sql, row.projectId, phases);
    if (planned?.ok === false) return planned;
    const texts = Object.entries(given).map(([field, value]) => [
      field,
      typeof value === "string" ? value : JSON.stringify(value),
    ]);
    const next = {
      ...Object.fromEntries(texts),
      ...(planned && { phases: writePhases(planned.value) }),
    };
    const summary = `Edited ${words.join(", ")}`;
    const changed = changeFields(sql, caller, { entity, row, next, summary });
    if (!changed.ok) return changed;
    const now = findLive(sql, caller, { entity, id });
    if (!now.ok) return now;
    const { projectId, name, revision: made } = now.value;
    recordChange(sql, caller, {
      projectId,
      action: "updated",
      entity,
      id,
      summary: `${summary} of ${nameOf(entity)} "${name}"`,
    });
    return ok({ entity, id, projectId, name, revision: made });
  },
});

export const editRowTool = gameplanTool(editRow, {
  description: "Changes fields of a row.",
  service: "editService",
  mutationType: "update",
  done: ({ entity, name }) => `Edited ${nameOf(entity)} "${name}"`,
  undo: {
    tool: "revert",
    args: ({ entity, id, revision: made }) => ({ entity, id, revision: made }),
  },
  isHidden: true,
  maxArgumentsBytes: 131_072,
});
