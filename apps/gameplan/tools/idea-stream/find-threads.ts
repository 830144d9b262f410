import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import { rowId } from "../entities/fields.ts";
import type { IdeaThread } from "../entities/idea-thread.ts";
import type { WorkspaceCaller, WorkspaceReads } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { findProject } from "../rows/project-row.ts";
import { findThread } from "../rows/thread-row.ts";
import { readMessages } from "./get-thread-messages.ts";

/** Arguments of every tool that is about several threads of a project. */
export const threadsInput = {
  projectId: rowId,
  threadIds: v.pipe(v.array(rowId), v.minLength(1), v.maxLength(20)),
};

type Threads = v.InferOutput<v.StrictObjectSchema<typeof threadsInput, undefined>>;

const CONTENT_CHARS = 60_000;
const MOST_MESSAGES = 5_000;

/** Finds threads of one project, each once. Fails: not_found, validation. */
export function findThreads(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  { projectId, threadIds }: Threads,
): Result<readonly IdeaThread[], ToolFailure> {
  const project = findProject(sql, caller, projectId);
  if (!project.ok) return project;
  if (new Set(threadIds).size < threadIds.length) {
    return refuse("validation", "A thread can be chosen once.", "/threadIds");
  }
  const threads: IdeaThread[] = [];
  for (const [index, id] of threadIds.entries()) {
    const found = findThread(sql, caller, { id });
    if (!found.ok || found.value.projectId !== projectId) {
      return refuse(
        "not_found",
        "One of the threads is not in this project.",
        `/threadIds/${index}`,
      );
    }
    threads.push(found.value);
  }
  return ok(threads);
}

/**
 * Finds open threads of which a brainstorm can be made. Fails: not_found, validation, conflict.
 */
export function findOpenThreads(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  asked: Threads,
): Result<readonly IdeaThread[], ToolFailure> {
  const found = findThreads(sql, caller, asked);
  if (!found.ok) return found;
  for (const [index, { title, status, messageCount }] of found.value.entries()) {
    const field = `/threadIds/${index}`;
    if (status !== "open") return refuse("conflict", `The thread "${title}" is closed.`, field);
    if (messageCount === 0)
      return refuse("validation", `The thread "${title}" has no message yet.`, field);
  }
  const content = writeThreads(sql, found.value);
  return content.ok ? found : content;
}

/** Writes what a brainstorm of threads says. Fails: validation when it is too long. */
export function writeThreads(
  sql: WorkspaceReads,
  threads: readonly IdeaThread[],
): Result<string, ToolFailure> {
  const content = threads.map((thread) => writeThread(sql, thread)).join("\n\n");
  return content.length <= CONTENT_CHARS
    ? ok(content)
    : refuse("validation", TOO_LONG, "/threadIds");
}

const TOO_LONG = `These threads have more than ${CONTENT_CHARS} characters together. Choose fewer.`;

function writeThread(sql: WorkspaceReads, { id, title }: IdeaThread): string {
  const messages = readMessages(sql, id, { after: 0, most: MOST_MESSAGES });
  const lines = messages.map(({ author, text }) => `**${author.replace(/^user:/, "")}:** ${text}`);
  return [`## ${title}`, ...lines].join("\n\n");
}
