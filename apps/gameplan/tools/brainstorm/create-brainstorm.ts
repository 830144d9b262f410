import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { brainstorm } from "../entities/brainstorm.ts";
import { nameText, rowId } from "../entities/fields.ts";
import { defineOperation } from "interlock-edge/tools";
import { findProject } from "../rows/project-row.ts";
import { addBrainstorm, brainstormFields } from "./add-brainstorm.ts";
import { rowArgs } from "../row-args.ts";

const AUTHOR_CHARS = 120;

export const createBrainstorm = defineOperation({
  name: "create_brainstorm",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    title: nameText,
    content: v.pipe(
      v.string(),
      v.regex(/\S/),
      v.maxLength(24_000),
      v.description("The notes of the session, as they are."),
    ),
    author: v.exactOptional(v.pipe(nameText, v.description("Who had the ideas."))),
    ...brainstormFields,
  }),
  output: v.strictObject({ brainstorm }),
  run(sql, { author, ...session }, caller) {
    const found = findProject(sql, caller, session.projectId);
    if (!found.ok) return found;
    const added = addBrainstorm(sql, caller, {
      ...session,
      author: author ?? caller.authorId.slice(0, AUTHOR_CHARS),
      source: "notes",
      threadIds: [],
    });
    return added.ok ? ok({ brainstorm: added.value }) : added;
  },
});

export const createBrainstormTool = gameplanTool(createBrainstorm, {
  description:
    "Adds a brainstorm session to a project: notes as they are, author, tags. Give your own synthesis in outputs when you can.",
  service: "brainstormService",
  mutationType: "create",
  done: ({ brainstorm: { title } }) => `Created brainstorm "${title}"`,
  undo: {
    tool: "discard",
    args: ({ brainstorm: made }) => rowArgs("brainstorm", made),
  },
  maxArgumentsBytes: 131_072,
});
