import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { pageEntries, rowId } from "../entities/fields.ts";
import { ideaThread } from "../entities/idea-thread.ts";
import { listNewest, pageArguments } from "../list-page.ts";
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
    return ok(
      listNewest(sql, {
        row: v.object({ ...threadRow.entries, seq: v.number() }),
        columns: THREAD_COLUMNS,
        table: "threads",
        where: "project_id = ?2 AND deleted_at IS NULL AND (?3 = '' OR status = ?3)",
        bindings: [caller.authorId, projectId, status ?? ""],
        page,
        show: toThread,
      }),
    );
  },
});

export const listIdeaThreadsTool = gameplanTool(listIdeaThreads, {
  description:
    "Lists the discussion threads of a project with the unread messages of the caller, newest first.",
  service: "ideaStreamService",
  done: ({ total }) => `Listed ${formatCount(total, "idea thread")}`,
});
