import * as v from "valibot";
import { formatCount } from "../consent-words.ts";
import { defineOperation, ok } from "interlock-edge/tools";
import { revision, rowId } from "../entities/fields.ts";
import { ideaThread, type IdeaThread } from "../entities/idea-thread.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { refuse } from "../refuse.ts";
import { findThread } from "../rows/thread-row.ts";

/** Opens threads again of which no brainstorm was made. A thread that is open stays as it is. */
export const unlockThreads = defineOperation({
  name: "unlock_threads",
  kind: "write",
  input: v.strictObject({
    threads: v.pipe(
      v.array(v.strictObject({ threadId: rowId, revision })),
      v.minLength(1),
      v.maxLength(20),
    ),
  }),
  output: v.strictObject({ threads: v.array(ideaThread) }),
  run(sql, { threads }, caller) {
    const opened: IdeaThread[] = [];
    for (const { threadId: id, revision: expected } of threads) {
      const found = findThread(sql, caller, { id });
      if (!found.ok) return found;
      const { status, brainstormId, revision: now } = found.value;
      if (status !== "open") {
        if (now !== expected || brainstormId !== null) {
          return refuse("stale", "This thread changed since it was closed.");
        }
        sql.run("UPDATE threads SET status = 'open', revision = ? WHERE id = ?", now + 1, id);
        caller.announce({ entity: "idea_thread", id });
      }
      const thread = findThread(sql, caller, { id });
      if (thread.ok) opened.push(thread.value);
    }
    return ok({ threads: opened });
  },
});

export const unlockThreadsTool = gameplanTool(unlockThreads, {
  description: "Opens closed idea threads again.",
  service: "ideaStreamService",
  mutationType: "update",
  done: ({ threads }) => `Opened ${formatCount(threads.length, "idea thread")} again`,
  isHidden: true,
});
