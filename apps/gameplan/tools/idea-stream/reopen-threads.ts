import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { putIntoBin } from "../bin/put-into-bin.ts";
import { binItem } from "../entities/bin-item.ts";
import { revision, rowId } from "../entities/fields.ts";
import { ideaThread } from "../entities/idea-thread.ts";
import { defineOperation } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findBrainstorm } from "../rows/brainstorm-row.ts";
import { findThread } from "../rows/thread-row.ts";

/** Takes back that threads became a brainstorm: it goes into the bin, and they are open again. */
export const reopenThreads = defineOperation({
  name: "reopen_threads",
  kind: "write",
  input: v.strictObject({ brainstormId: rowId, revision }),
  output: v.strictObject({ binItem, threads: v.array(ideaThread) }),
  run(sql, { brainstormId: id, revision: expected }, caller) {
    const found = findBrainstorm(sql, caller, { id, revision: expected });
    if (!found.ok) return found;
    const { projectId, threadIds, title } = found.value;
    if (threadIds.length === 0)
      return refuse("validation", "This brainstorm was not made of threads.");
    const binned = putIntoBin(sql, caller, { entity: "brainstorm", id });
    if (!binned.ok) return binned;
    const threads = threadIds.flatMap((threadId) => {
      const thread = findThread(sql, caller, { id: threadId });
      if (!thread.ok || thread.value.brainstormId !== id) return [];
      sql.run(
        "UPDATE threads SET status = 'open', brainstorm_id = NULL, revision = ? WHERE id = ?",
        thread.value.revision + 1,
        threadId,
      );
      recordChange(sql, caller, {
        projectId,
        action: "reopened",
        entity: "idea_thread",
        id: threadId,
        summary: `Reopened idea thread "${thread.value.title}" of brainstorm "${title}"`,
      });
      const reopened = findThread(sql, caller, { id: threadId });
      return reopened.ok ? [reopened.value] : [];
    });
    return ok({ binItem: binned.value, threads });
  },
});

export const reopenThreadsTool = gameplanTool(reopenThreads, {
  description: "Takes back that threads became a brainstorm.",
  service: "ideaStreamService",
  done: ({ threads }) => `Reopened ${formatCount(threads.length, "idea thread")}`,
  isHidden: true,
});
