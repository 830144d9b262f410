import * as v from "valibot";
import { count, nameText, person, revision, rowId, time } from "./fields.ts";

export const outputKind = v.picklist(["summary", "theme", "idea", "decision", "question"]);

/** One result of the synthesis of a brainstorm. */
export const synthesisOutput = v.strictObject({
  kind: outputKind,
  text: v.pipe(v.string(), v.regex(/\S/), v.maxLength(500)),
});

export const tag = v.pipe(v.string(), v.regex(/\S/), v.maxLength(40));

export const brainstormSummary = v.strictObject({
  id: rowId,
  projectId: rowId,
  title: nameText,
  /** Who said it, in the words of the person who added it. */
  author: nameText,
  tags: v.array(tag),
  source: v.picklist(["notes", "threads"]),
  outputs: count,
  revision,
  createdAt: time,
  createdBy: person,
});

/** A session. Its outputs are what the assistant or the importer made of its content. */
export const brainstorm = v.strictObject({
  ...brainstormSummary.entries,
  content: v.pipe(v.string(), v.maxLength(60_000)),
  outputs: v.array(synthesisOutput),
  /** Threads of which it was made. */
  threadIds: v.array(rowId),
});

export type Brainstorm = v.InferOutput<typeof brainstorm>;
export type BrainstormSummary = v.InferOutput<typeof brainstormSummary>;
export type SynthesisOutput = v.InferOutput<typeof synthesisOutput>;
