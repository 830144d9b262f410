import * as v from "valibot";
import type { IdeaMessage } from "../entities/idea-thread.ts";
import { addRow } from "../rows/add-row.ts";
import { toIso } from "../iso-time.ts";
import type { WorkspaceCaller, WorkspaceSql } from "interlock-edge/tools";

/** Adds a message to a thread. Its author has read everything up to it. */
export function addMessage(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  { projectId, threadId, text }: { projectId: string; threadId: string; text: string },
): IdeaMessage {
  sql.run("UPDATE threads SET last_number = last_number + 1 WHERE id = ?", threadId);
  const counted = sql.first(
    v.object({ number: v.number() }),
    "SELECT last_number AS number FROM threads WHERE id = ?",
    threadId,
  );
  const number = counted?.number ?? 1;
  const columns = { thread_id: threadId, number, text };
  const id = addRow(sql, caller, { entity: "idea_message", projectId, columns });
  markRead(sql, caller, { threadId, number });
  return { id, number, author: caller.authorId, text, at: toIso(caller.nowMs) };
}

/** Moves the caller's read mark forward, at most to the newest message; it never goes back. */
export function markRead(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  { threadId, number }: { readonly threadId: string; readonly number: number },
): void {
  sql.run(
    `INSERT INTO read_marks (thread_id, person, number) SELECT id, ?, min(?, last_number) FROM threads
     WHERE id = ? ON CONFLICT (thread_id, person) DO UPDATE SET number = max(number, excluded.number)`,
    caller.authorId,
    number,
    threadId,
  );
}
