import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { pageEntries, revision, rowId } from "../entities/fields.ts";
import { ideaMessage, ideaThread, shownMessage } from "../entities/idea-thread.ts";
import { toIso } from "../iso-time.ts";
import { makePage, pageArguments, placeAfter, rowsOf } from "../list-page.ts";
import { defineOperation, type WorkspaceReads } from "interlock-edge/tools";
import { findThread } from "../rows/thread-row.ts";

const messageRow = v.object({ ...ideaMessage.entries, at: v.number(), revision });
const MOST_MESSAGES = 20;
const MESSAGE_COLUMNS = "id, number, created_by AS author, text, created_at AS at, revision";

/** Reads messages of a thread that are not in the bin, oldest first. */
export function readMessages(
  sql: WorkspaceReads,
  threadId: string,
  { after, most }: { readonly after: number; readonly most: number },
): readonly MessageRow[] {
  return sql.rows(
    messageRow,
    `SELECT ${MESSAGE_COLUMNS} FROM messages
     WHERE thread_id = ? AND deleted_at IS NULL AND number > ? ORDER BY number LIMIT ?`,
    threadId,
    after,
    most,
  );
}

type MessageRow = v.InferOutput<typeof messageRow>;

/** Oldest first. Reading marks nothing as read: `mark_thread_read` does. */
export const getThreadMessages = defineOperation({
  name: "get_thread_messages",
  kind: "read",
  input: v.strictObject({ threadId: rowId, ...pageArguments }),
  output: v.strictObject({ thread: ideaThread, items: v.array(shownMessage), ...pageEntries }),
  run(sql, { threadId: id, ...args }, caller) {
    const found = findThread(sql, caller, { id });
    if (!found.ok) return found;
    // Texts are long, so a page of messages is shorter than other pages.
    const page = { ...args, limit: Math.min(args.limit ?? MOST_MESSAGES, MOST_MESSAGES) };
    const place = { after: placeAfter(page, 0), most: rowsOf(page) };
    const { items, total, next } = makePage(readMessages(sql, id, place), {
      page,
      total: found.value.messageCount,
      cursorOf: ({ number }) => String(number),
      show: ({ revision: known, at, ...message }) => ({
        ...message,
        at: toIso(at),
        ...(message.author === caller.authorId && { revision: known }),
      }),
    });
    return ok({ thread: found.value, items, total, next });
  },
});

export const getThreadMessagesTool = gameplanTool(getThreadMessages, {
  description: "Shows the messages of a thread, oldest first, at most 20 a page.",
  service: "ideaStreamService",
  done: ({ thread: { title } }) => `Read idea thread "${title}"`,
});
