import * as v from "valibot";
import { formatCount } from "../consent-words.ts";
import { defineOperation, ok } from "interlock-edge/tools";
import { ideaThread } from "../entities/idea-thread.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { findOpenThreads, findThreads, threadsInput } from "./find-threads.ts";

/**
 * Closes threads before a brainstorm is made of them, so that it lacks no message. It checks all
 * that the brainstorm takes of them.
 */
export const lockThreads = defineOperation({
  name: "lock_threads",
  kind: "write",
  input: v.strictObject(threadsInput),
  output: v.strictObject({
    threads: v.pipe(v.array(ideaThread), v.minLength(1), v.maxLength(20)),
  }),
  run(sql, asked, caller) {
    const opened = findOpenThreads(sql, caller, asked);
    if (!opened.ok) return opened;
    for (const { id, revision } of opened.value) {
      sql.run(
        "UPDATE threads SET status = 'finalized', revision = ? WHERE id = ?",
        revision + 1,
        id,
      );
      caller.announce({ entity: "idea_thread", id });
    }
    const locked = findThreads(sql, caller, asked);
    return locked.ok ? ok({ threads: [...locked.value] }) : locked;
  },
});

export const lockThreadsTool = gameplanTool(lockThreads, {
  description: "Closes idea threads.",
  service: "ideaStreamService",
  mutationType: "update",
  done: ({ threads }) => `Closed ${formatCount(threads.length, "idea thread")}`,
  undo: {
    tool: "unlock_threads",
    args: ({ threads }) => ({
      threads: threads.map(({ id, revision }) => ({ threadId: id, revision })),
    }),
  },
  isHidden: true,
});
