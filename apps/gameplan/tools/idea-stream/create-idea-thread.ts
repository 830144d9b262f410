import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { longText, nameText, rowId } from "../entities/fields.ts";
import { ideaThread } from "../entities/idea-thread.ts";
import { defineOperation } from "interlock-edge/tools";
import { addRow } from "../rows/add-row.ts";
import { findProject } from "../rows/project-row.ts";
import { findThread } from "../rows/thread-row.ts";
import { addMessage } from "./add-message.ts";
import { rowArgs } from "../row-args.ts";

export const createIdeaThread = defineOperation({
  name: "create_idea_thread",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    title: nameText,
    text: v.exactOptional(v.pipe(longText, v.description("The first message."))),
  }),
  output: v.strictObject({ thread: ideaThread }),
  run(sql, { projectId, title, text = "" }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const id = addRow(sql, caller, {
      entity: "idea_thread",
      projectId,
      columns: { title, status: "open", last_number: 0 },
      summary: `Started idea thread "${title}"`,
    });
    if (/\S/.test(text)) addMessage(sql, caller, { projectId, threadId: id, text });
    const made = findThread(sql, caller, { id });
    return made.ok ? ok({ thread: made.value }) : made;
  },
});

export const createIdeaThreadTool = gameplanTool(createIdeaThread, {
  description: "Starts a discussion thread in a project, with a first message if you give one.",
  service: "ideaStreamService",
  mutationType: "create",
  done: ({ thread: { title } }) => `Started idea thread "${title}"`,
  undo: {
    tool: "discard",
    args: ({ thread: made }) => rowArgs("idea_thread", made),
  },
  maxArgumentsBytes: 16_384,
});
