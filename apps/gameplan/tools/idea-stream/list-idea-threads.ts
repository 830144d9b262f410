import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { pageEntries, rowId } from "../entities/fields.ts";
import { ideaThread } from "../entities/idea-thread.ts";
import {
  countRows,
  makePage,
  pageArguments,
  placeAfter,
  rowsOf,
  withoutSeq,
} from "../list-page.ts";
import { defineOperation } from "interlock-edge/tools";
import { findProject } from "../rows/project-row.ts";
import { THREAD_COLUMNS, threadRow, toThread } from "../rows/thread-row.ts";

export const listIdeaThreads = defineOperation({
  name: "list_idea_threads",
  kind: "read",
  input: v.strictObject({
    projectId: rowId,
    status: v.exactOptional(ideaThread.entries.status),
    ...pageArguments,
  }),
  output: v.strictObject({ items: v.array(ideaThread), ...pageEntries }),
  run(sql, { projectId, status, ...page }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const wanted = status ?? "";
    const rows = sql.rows(
      v.object({ ...threadRow.entries, seq: v.number() }),
      `SELECT seq, ${THREAD_COLUMNS} FROM threads
       WHERE project_id = ?2 AND deleted_at IS NULL AND (?3 = '' OR status = ?3) AND seq < ?4
       ORDER BY seq DESC LIMIT ?5`,
      caller.authorId,
      projectId,
      wanted,
      placeAfter(page, Number.MAX_SAFE_INTEGER),
      rowsOf(page),
    );
    const where = "project_id = ?1 AND deleted_at IS NULL AND (?2 = '' OR status = ?2)";
    return ok(
      makePage(rows, {
        page,
        total: countRows(sql, { table: "threads", where, bindings: [projectId, wanted] }),
        cursorOf: ({ seq }) => String(seq),
        show: (row) => toThread(withoutSeq(row)),
      }),
    );
  },
});

export const listIdeaThreadsTool = gameplanTool(listIdeaThreads, {
  description:
    "Lists the discussion threads of a project with the unread messages of the caller, newest first.",
  service: "ideaStreamService",
  mutationType: "read",
  done: ({ total }) => `Listed ${formatCount(total, "idea thread")}`,
});
