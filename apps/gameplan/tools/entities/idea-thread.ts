import * as v from "valibot";
import { count, longText, nameText, person, revision, rowId, time } from "./fields.ts";

/** A discussion. `unreadCount` counts for the caller: messages of others after the read mark. */
export const ideaThread = v.strictObject({
  id: rowId,
  projectId: rowId,
  title: nameText,
  status: v.picklist(["open", "finalized"]),
  /** The brainstorm that was made of it, or null. */
  brainstormId: v.nullable(rowId),
  messageCount: count,
  unreadCount: count,
  lastMessageAt: v.nullable(time),
  revision,
  createdAt: time,
  createdBy: person,
});

export const ideaMessage = v.strictObject({
  id: rowId,
  /** Place in its thread, from 1. */
  number: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  author: person,
  text: longText,
  at: time,
});

/** A message in its thread. Its revision is for its author alone, who may change it. */
export const shownMessage = v.strictObject({
  ...ideaMessage.entries,
  revision: v.exactOptional(revision),
});

export type IdeaThread = v.InferOutput<typeof ideaThread>;
export type IdeaMessage = v.InferOutput<typeof ideaMessage>;
