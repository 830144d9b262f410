import * as v from "valibot";
import { projectCounts, type ProjectCounts } from "../entities/project.ts";
import type { WorkspaceReads } from "interlock-edge/tools";

const live = (table: string, and = ""): string =>
  `(SELECT count(*) FROM ${table} t WHERE t.project_id = ?1 AND t.deleted_at IS NULL${and})`;

/** Counts the messages of others behind the read mark of a person. Both are names of the query. */
export const unreadOf = (thread: "t" | "threads", person: "?1" | "?2"): string =>
  `(SELECT count(*) FROM messages m WHERE m.thread_id = ${thread}.id AND m.deleted_at IS NULL
    AND m.created_by <> ${person} AND m.number > coalesce((SELECT number FROM read_marks r
      WHERE r.thread_id = ${thread}.id AND r.person = ${person}), 0))`;

/** A dependency counts while both of its systems are there. */
export const HAS_BOTH_SYSTEMS = ` AND
  EXISTS (SELECT 1 FROM systems s WHERE s.id = t.source_id AND s.deleted_at IS NULL) AND
  EXISTS (SELECT 1 FROM systems s WHERE s.id = t.target_id AND s.deleted_at IS NULL)`;

/** Counts what is in a project, unread messages for one person. */
export function countContents(
  sql: WorkspaceReads,
  projectId: string,
  personId: string,
): ProjectCounts {
  const counted = sql.first(
    v.object(projectCounts.entries),
    `SELECT ${live("systems")} AS systems,
       ${live("dependencies", HAS_BOTH_SYSTEMS)} AS dependencies,
       ${live("brainstorms")} AS brainstorms,
       ${live("plans", " AND t.status = 'draft'")} AS draftPlans,
       ${live("plans", " AND t.status = 'finalized'")} AS finalizedPlans,
       ${live("threads", " AND t.status = 'open'")} AS openThreads,
       (SELECT coalesce(sum(${unreadOf("t", "?2")}), 0) FROM threads t
         WHERE t.project_id = ?1 AND t.deleted_at IS NULL) AS unreadMessages,
       ${live("exports")} AS exports`,
    projectId,
    personId,
  );
  if (!counted) throw new Error("A count has no row.");
  return counted;
}
