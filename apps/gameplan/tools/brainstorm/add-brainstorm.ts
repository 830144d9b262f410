import * as v from "valibot";
import type { Result, ToolFailure } from "interlock-edge/tools";
import { synthesisOutput, tag, type Brainstorm } from "../entities/brainstorm.ts";
import type { WorkspaceCaller, WorkspaceSql } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { findBrainstorm } from "../rows/brainstorm-row.ts";
import { synthesize } from "./synthesize.ts";

/** Arguments of every tool that makes a brainstorm. */
export const brainstormFields = {
  tags: v.exactOptional(v.pipe(v.array(tag), v.maxLength(20))),
  outputs: v.exactOptional(
    v.pipe(
      v.array(synthesisOutput),
      v.maxLength(50),
      v.description("Your synthesis. Absent: it is read from lists, labels and questions."),
    ),
  ),
};

type NewBrainstorm = Pick<Brainstorm, "projectId" | "title" | "author" | "source" | "content"> & {
  readonly tags?: readonly string[];
  readonly outputs?: Brainstorm["outputs"];
  readonly threadIds: readonly string[];
};

/** Adds a brainstorm to a project, which the caller has found. */
export function addBrainstorm(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  session: NewBrainstorm,
): Result<Brainstorm, ToolFailure> {
  const id = caller.newId();
  const { projectId, title, author, source, content, threadIds, tags = [] } = session;
  sql.run(
    `INSERT INTO brainstorms (id, project_id, revision, created_at, created_by, title, author, tags,
       source, content, outputs, thread_ids) VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    projectId,
    caller.nowMs,
    caller.authorId,
    title,
    author,
    JSON.stringify(tags),
    source,
    content,
    JSON.stringify(session.outputs ?? synthesize(content)),
    JSON.stringify(threadIds),
  );
  const summary = `Created brainstorm "${title}"`;
  recordChange(sql, caller, { projectId, action: "created", entity: "brainstorm", id, summary });
  return findBrainstorm(sql, caller, { id });
}
