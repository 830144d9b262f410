import * as v from "valibot";
import { formatCount } from "../consent-words.ts";
import { defineOperation, ok } from "interlock-edge/tools";
import { addBrainstorm, brainstormFields } from "../brainstorm/add-brainstorm.ts";
import { brainstorm } from "../entities/brainstorm.ts";
import { nameText } from "../entities/fields.ts";
import { ideaThread } from "../entities/idea-thread.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findThreads, threadsInput, writeThreads } from "./find-threads.ts";

/** Makes a brainstorm of threads that lock_threads has closed. */
export const mergeThreads = defineOperation({
  name: "merge_threads",
  kind: "write",
  input: v.strictObject({ ...threadsInput, title: nameText, ...brainstormFields }),
  output: v.strictObject({ brainstorm, threads: v.array(ideaThread) }),
  run(sql, { projectId, threadIds, ...fields }, caller) {
    const asked = { projectId, threadIds };
    const locked = findThreads(sql, caller, asked);
    if (!locked.ok) return locked;
    const free = locked.value.findIndex(
      ({ status, brainstormId }) => status === "open" || brainstormId !== null,
    );
    if (free >= 0) {
      const why = "This thread is open again, or in another brainstorm.";
      return refuse("conflict", why, `/threadIds/${free}`);
    }
    const content = writeThreads(sql, locked.value);
    if (!content.ok) return content;
    const authors = new Set(locked.value.map(({ createdBy }) => createdBy));
    const added = addBrainstorm(sql, caller, {
      projectId,
      ...fields,
      author: [...authors].join(", ").slice(0, 120),
      source: "threads",
      content: content.value,
      threadIds,
    });
    if (!added.ok) return added;
    for (const { id, title } of locked.value) {
      sql.run("UPDATE threads SET brainstorm_id = ? WHERE id = ?", added.value.id, id);
      const summary = `Finalized idea thread "${title}" into brainstorm "${fields.title}"`;
      const action = "finalized";
      recordChange(sql, caller, { projectId, action, entity: "idea_thread", id, summary });
    }
    const threads = findThreads(sql, caller, asked);
    return threads.ok ? ok({ brainstorm: added.value, threads: [...threads.value] }) : threads;
  },
});

export const mergeThreadsTool = gameplanTool(mergeThreads, {
  description: "Makes a brainstorm of closed idea threads.",
  service: "ideaStreamService",
  mutationType: "create",
  done: ({ brainstorm: { title }, threads }) =>
    `Made brainstorm "${title}" of ${formatCount(threads.length, "idea thread")}`,
  undo: {
    tool: "reopen_threads",
    args: ({ brainstorm: { id, revision } }) => ({ brainstormId: id, revision }),
  },
  isHidden: true,
  maxArgumentsBytes: 65_536,
});
