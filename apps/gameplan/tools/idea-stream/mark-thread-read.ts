import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { rowId } from "../entities/fields.ts";
import { ideaMessage, ideaThread } from "../entities/idea-thread.ts";
import { defineOperation } from "interlock-edge/tools";
import { findThread } from "../rows/thread-row.ts";
import { markRead } from "./add-message.ts";

/** Marks the messages of a thread up to a number as read by the caller. */
export const markThreadRead = defineOperation({
  name: "mark_thread_read",
  kind: "write",
  input: v.strictObject({ threadId: rowId, number: ideaMessage.entries.number }),
  output: v.strictObject({ thread: ideaThread }),
  run(sql, { threadId: id, number }, caller) {
    const found = findThread(sql, caller, { id });
    if (!found.ok) return found;
    markRead(sql, caller, { threadId: id, number });
    caller.announce({ entity: "idea_thread", id });
    const read = findThread(sql, caller, { id });
    return read.ok ? ok({ thread: read.value }) : read;
  },
});

export const markThreadReadTool = gameplanTool(markThreadRead, {
  description: "Marks the messages of a thread up to a number as read by the caller.",
  service: "ideaStreamService",
  mutationType: "update",
  done: ({ thread: { title } }) => `Marked idea thread "${title}" as read`,
  isHidden: true,
});
