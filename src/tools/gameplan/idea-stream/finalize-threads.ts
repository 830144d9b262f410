import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "../../../exports/tools.ts";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { addBrainstorm, brainstormFields } from "../brainstorm/add-brainstorm.ts";
import { brainstorm } from "../entities/brainstorm.ts";
import { nameText, rowId } from "../entities/fields.ts";
import { ideaThread, type IdeaThread } from "../entities/idea-thread.ts";
import {
  defineOperation,
  type WorkspaceCaller,
  type WorkspaceReads,
} from "../../../exports/tools.ts";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findProject } from "../rows/project-row.ts";
import { findThread } from "../rows/thread-row.ts";
import { getThreadMessages, readMessages } from "./get-thread-messages.ts";

const formatNames = (names: unknown): string => (Array.isArray(names) ? names.join(", ") : "");

export const threadIdsInput = v.pipe(v.array(rowId), v.minLength(1), v.maxLength(20));

const CONTENT_CHARS = 60_000;
const MOST_MESSAGES = 5_000;

/** Makes a brainstorm of open threads and closes them. */
export const finalizeThreads = defineOperation({
  name: "finalize_threads_to_brainstorm",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    threadIds: threadIdsInput,
    title: nameText,
    ...brainstormFields,
  }),
  output: v.strictObject({ brainstorm, threads: v.array(ideaThread) }),
  run(sql, { projectId, threadIds, ...fields }, caller) {
    const opened = findOpenThreads(sql, caller, { projectId, threadIds });
    if (!opened.ok) return opened;
    const content = opened.value.map((thread) => writeThread(sql, thread)).join("\n\n");
    if (content.length > CONTENT_CHARS) {
      return refuse("validation", `at most ${CONTENT_CHARS} characters of messages`, "/threadIds");
    }
    const authors = new Set(opened.value.map(({ createdBy }) => createdBy));
    const added = addBrainstorm(sql, caller, {
      projectId,
      ...fields,
      author: [...authors].join(", ").slice(0, 120),
      source: "threads",
      content,
      threadIds,
    });
    if (!added.ok) return added;
    for (const { id, title, revision } of opened.value) {
      sql.run(
        "UPDATE threads SET status = 'finalized', brainstorm_id = ?, revision = ? WHERE id = ?",
        added.value.id,
        revision + 1,
        id,
      );
      const summary = `Finalized idea thread "${title}" into brainstorm "${fields.title}"`;
      const action = "finalized";
      recordChange(sql, caller, { projectId, action, entity: "idea_thread", id, summary });
    }
    const threads = threadIds.flatMap((id) => {
      const found = findThread(sql, caller, { id });
      return found.ok ? [found.value] : [];
    });
    return ok({ brainstorm: added.value, threads });
  },
});

/** Finds open threads of one project. Fails: not_found, validation, conflict. */
export function findOpenThreads(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  { projectId, threadIds }: { readonly projectId: string; readonly threadIds: readonly string[] },
): Result<readonly IdeaThread[], ToolFailure> {
  const project = findProject(sql, caller, projectId);
  if (!project.ok) return project;
  if (new Set(threadIds).size < threadIds.length) {
    return refuse("validation", "each thread once", "/threadIds");
  }
  const threads: IdeaThread[] = [];
  for (const [index, id] of threadIds.entries()) {
    const field = `/threadIds/${index}`;
    const found = findThread(sql, caller, { id });
    if (!found.ok || found.value.projectId !== projectId) {
      return refuse("not_found", "the id of an idea thread of the project", field);
    }
    if (found.value.status !== "open") return refuse("conflict", "an open thread", field);
    if (found.value.messageCount === 0) {
      return refuse("validation", "a thread with messages", field);
    }
    threads.push(found.value);
  }
  return ok(threads);
}

function writeThread(sql: WorkspaceReads, { id, title }: IdeaThread): string {
  const messages = readMessages(sql, id, { after: 0, most: MOST_MESSAGES });
  const lines = messages.map(({ author, text }) => `**${author}:** ${text}`);
  return [`## ${title}`, ...lines].join("\n\n");
}

export const finalizeThreadsTool = gameplanTool(finalizeThreads, {
  description:
    "Makes one brainstorm session of selected threads and closes them. A person approves it. Give your own synthesis in outputs.",
  service: "ideaStreamService",
  mutationType: "action",
  done: ({ brainstorm: { title } }) => `Made brainstorm "${title}" of idea threads`,
  risk: "MEDIUM_RISK_WRITE",
  consent: {
    describe: ({ threadIds, title }, { threads }) => ({
      action: `Make brainstorm "${title}" of ${formatCount(threadIds.length, "idea thread")}`,
      consequence: `Nobody can post in these threads any more: ${formatNames(threads ?? threadIds)}.`,
    }),
    shows: ["threads", "status", "brainstorm"],
    async preview({ threadIds, title }, read) {
      const threads: string[] = [];
      for (const threadId of threadIds) {
        const found = await read(getThreadMessages, { threadId, limit: 1 });
        if (!found.ok) return undefined;
        const { thread, total } = found.value;
        threads.push(`${thread.title} (${formatCount(total, "message")})`);
      }
      return {
        before: { threads, status: "open" },
        after: { threads, status: "finalized", brainstorm: title },
      };
    },
  },
  undo: {
    tool: "reopen_threads",
    args: ({ brainstorm: { id, revision } }) => ({ brainstormId: id, revision }),
  },
  maxArgumentsBytes: 65_536,
});
