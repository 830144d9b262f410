import * as v from "valibot";
import { type Result, type ToolFailure } from "interlock-edge/tools";
import { ideaThread, type IdeaThread } from "../entities/idea-thread.ts";
import { toIso, toIsoOrNull } from "../iso-time.ts";
import type { WorkspaceCaller, WorkspaceReads } from "interlock-edge/tools";
import { unreadOf } from "../project/count-contents.ts";
import { findLive, toFound } from "./entity-row.ts";

/** Columns of a thread for one person, who is the first binding of the query. */
export const THREAD_COLUMNS = `id, project_id AS projectId, title, status,
  brainstorm_id AS brainstormId, revision, created_at AS createdAt, created_by AS createdBy,
  (SELECT count(*) FROM messages m
    WHERE m.thread_id = threads.id AND m.deleted_at IS NULL) AS messageCount,
  ${unreadOf("threads", "?1")} AS unreadCount,
  (SELECT max(created_at) FROM messages m
    WHERE m.thread_id = threads.id AND m.deleted_at IS NULL) AS lastMessageAt`;

export const threadRow = v.object({
  ...ideaThread.entries,
  createdAt: v.number(),
  lastMessageAt: v.nullable(v.number()),
});

export function toThread(row: v.InferOutput<typeof threadRow>): IdeaThread {
  return {
    ...row,
    createdAt: toIso(row.createdAt),
    lastMessageAt: toIsoOrNull(row.lastMessageAt),
  };
}

/** Finds a thread that is not in the bin, as the caller sees it. Fails: not_found, stale. */
export function findThread(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  reference: { readonly id: string; readonly revision?: number },
): Result<IdeaThread, ToolFailure> {
  const found = findLive(sql, caller, { entity: "idea_thread", ...reference });
  if (!found.ok) return found;
  const row = sql.first(
    threadRow,
    `SELECT ${THREAD_COLUMNS} FROM threads WHERE id = ?2`,
    caller.authorId,
    found.value.id,
  );
  return toFound(row, toThread);
}
