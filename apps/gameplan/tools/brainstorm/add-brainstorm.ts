import * as v from "valibot";
import type { Result, ToolFailure } from "interlock-edge/tools";
import { synthesisOutput, tag, type Brainstorm } from "../entities/brainstorm.ts";
import type { WorkspaceCaller, WorkspaceSql } from "interlock-edge/tools";
import { addRow } from "../rows/add-row.ts";
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
  const { projectId, title, author, source, content, threadIds, tags = [] } = session;
  const id = addRow(sql, caller, {
    entity: "brainstorm",
    projectId,
    columns: {
      title,
      author,
      tags: JSON.stringify(tags),
      source,
      content,
      outputs: JSON.stringify(session.outputs ?? synthesize(content)),
      thread_ids: JSON.stringify(threadIds),
    },
    summary: `Created brainstorm "${title}"`,
  });
  return findBrainstorm(sql, caller, { id });
}
