import * as v from "valibot";
import { count, longText, nameText, person, revision, rowId, time } from "./fields.ts";

export const projectStatus = v.picklist(["concept", "active", "paused", "archived"]);

/** One game. Its owners alone may delete it. */
export const project = v.strictObject({
  id: rowId,
  name: nameText,
  description: longText,
  genre: v.pipe(v.string(), v.maxLength(80)),
  platform: v.pipe(v.string(), v.maxLength(80)),
  status: projectStatus,
  revision,
  createdAt: time,
  createdBy: person,
  updatedAt: time,
});

/** What a dashboard shows beside a project. `unreadMessages` counts for the caller. */
export const projectCounts = v.strictObject({
  systems: count,
  dependencies: count,
  brainstorms: count,
  draftPlans: count,
  finalizedPlans: count,
  openThreads: count,
  unreadMessages: count,
  exports: count,
});

export type Project = v.InferOutput<typeof project>;
export type ProjectCounts = v.InferOutput<typeof projectCounts>;
