import type { Activity, Subject } from "./entities/activity.ts";
import type { WorkspaceCaller, WorkspaceSql } from "interlock-edge/tools";

export const SUMMARY_CHARS = 400;

/** Writes one line of a project's feed, and tells pages that the row changed. */
export function recordChange(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  change: {
    readonly projectId: string;
    readonly action: Activity["action"];
    readonly entity: Subject;
    readonly id: string;
    readonly summary: string;
  },
): void {
  sql.run(
    `INSERT INTO activity
       (id, project_id, at, actor, action, entity, entity_id, summary, run_id, call_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    caller.newId(),
    change.projectId,
    caller.nowMs,
    caller.authorId,
    change.action,
    change.entity,
    change.id,
    change.summary.slice(0, SUMMARY_CHARS),
    caller.runId,
    caller.toolCallId ?? null,
  );
  caller.announce({ entity: change.entity, id: change.id });
}
