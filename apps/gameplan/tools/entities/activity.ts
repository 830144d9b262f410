import * as v from "valibot";
import { person, rowId, time } from "./fields.ts";

/** What rows are about, in activity, bin, undo and `workspace_changed`. */
export const ENTITIES = [
  "project",
  "system",
  "dependency",
  "brainstorm",
  "version_plan",
  "idea_thread",
  "idea_message",
  "export",
] as const;
export const entityName = v.picklist(ENTITIES);
export type EntityName = (typeof ENTITIES)[number];

/** Kinds of rows that `edit_row` changes. */
export const EDITED = [
  "dependency",
  "idea_thread",
  "idea_message",
  "brainstorm",
  "version_plan",
] as const;

/** What a line of activity is about. A board has no row that people can delete. */
const subject = v.picklist([...ENTITIES, "board"]);
export type Subject = v.InferOutput<typeof subject>;

export const activityAction = v.picklist([
  "created",
  "updated",
  "deleted",
  "restored",
  "finalized",
  "reopened",
]);

export const activityEntries = {
  id: rowId,
  at: time,
  actor: person,
  action: activityAction,
  entity: subject,
  entityId: rowId,
  /** A sentence in the past tense, for example `Created game system "Combat" (combat)`. */
  summary: v.pipe(v.string(), v.maxLength(400)),
};

/** One line of a project's feed, newest first. */
export const activity = v.strictObject({
  ...activityEntries,
  /** The call that made the change, for the person who made it. */
  call: v.exactOptional(v.strictObject({ runId: v.string(), toolCallId: v.string() })),
});

export type Activity = v.InferOutput<typeof activity>;
