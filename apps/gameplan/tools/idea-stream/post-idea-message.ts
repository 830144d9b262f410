import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { longText, rowId } from "../entities/fields.ts";
import { ideaMessage, ideaThread } from "../entities/idea-thread.ts";
import { defineOperation } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findThread } from "../rows/thread-row.ts";
import { addMessage } from "./add-message.ts";

export const postIdeaMessage = defineOperation({
  name: "post_idea_message",
  kind: "write",
  input: v.strictObject({ threadId: rowId, text: v.pipe(longText, v.regex(/\S/)) }),
  output: v.strictObject({ message: ideaMessage, thread: ideaThread }),
  run(sql, { threadId, text }, caller) {
    const found = findThread(sql, caller, { id: threadId });
    if (!found.ok) return found;
    const { projectId, title, status } = found.value;
    if (status !== "open") return refuse("conflict", "This thread is closed.", "/threadId");
    const message = addMessage(sql, caller, { projectId, threadId, text });
    recordChange(sql, caller, {
      projectId,
      action: "created",
      entity: "idea_message",
      id: message.id,
      summary: `Posted in idea thread "${title}"`,
    });
    const thread = findThread(sql, caller, { id: threadId });
    return thread.ok ? ok({ message, thread: thread.value }) : thread;
  },
});

export const postIdeaMessageTool = gameplanTool(postIdeaMessage, {
  description: "Posts a message to an open discussion thread, in the name of the caller.",
  service: "ideaStreamService",
  mutationType: "create",
  done: ({ thread: { title } }) => `Posted in idea thread "${title}"`,
  undo: {
    tool: "discard",
    args: ({ message: { id } }) => ({ entity: "idea_message", id, revision: 1 }),
  },
  maxArgumentsBytes: 16_384,
});
