import * as v from "valibot";
import { longText, nameText, person, revision, rowId, time } from "./fields.ts";
import { CRITICALITIES, SLUG, SYSTEM_STATUSES } from "./system-texts.ts";

export const systemSlug = v.pipe(v.string(), v.regex(SLUG));
export const mvpCriticality = v.picklist(CRITICALITIES);
export const systemStatus = v.picklist(SYSTEM_STATUSES);

/** A distinct mechanic or subsystem of a game. An empty text is not written yet. */
export const gameSystem = v.strictObject({
  id: rowId,
  projectId: rowId,
  name: nameText,
  systemSlug,
  mvpCriticality,
  status: systemStatus,
  purpose: longText,
  coreMechanics: longText,
  currentState: longText,
  targetState: longText,
  inputs: longText,
  outputs: longText,
  failureStates: longText,
  scalingBehavior: longText,
  implementationNotes: longText,
  openQuestions: longText,
  revision,
  createdAt: time,
  createdBy: person,
  updatedAt: time,
});

/** A system in a list. `purpose` is cut after 200 characters. */
export const systemSummary = v.strictObject({
  id: rowId,
  name: nameText,
  systemSlug,
  mvpCriticality,
  status: systemStatus,
  purpose: v.pipe(v.string(), v.maxLength(200)),
  revision,
  updatedAt: time,
});

/** One change of a system, newest first. */
export const changelogEntry = v.strictObject({
  id: rowId,
  at: time,
  author: person,
  /** The system's revision after the change. */
  revision,
  summary: v.pipe(v.string(), v.maxLength(400)),
  /** Names of the changed fields. Empty: the system was created. */
  fields: v.array(v.string()),
});

export type GameSystem = v.InferOutput<typeof gameSystem>;
export type ChangelogEntry = v.InferOutput<typeof changelogEntry>;
