import * as v from "valibot";
import { defineOperation, ok } from "interlock-edge/tools";
import { count, rowId } from "../entities/fields.ts";
import { ideaThread } from "../entities/idea-thread.ts";
import { project, projectCounts } from "../entities/project.ts";
import { planSummary } from "../entities/version-plan.ts";
import { findProject } from "../rows/project-row.ts";
import { countContents, unreadOf } from "./count-contents.ts";

/** So many draft plans and open threads are named at most; the counts say how many there are. */
const MOST_NAMED = 5;

const { id, name, genre, platform, status } = project.entries;
const shownProject = v.object({ id, name, genre, platform, status });
const openThread = v.strictObject({
  id: rowId,
  title: ideaThread.entries.title,
  unreadMessages: count,
});
const draftPlan = v.strictObject({
  id: rowId,
  version: planSummary.entries.version,
  name: planSummary.entries.name,
});

/** Reads what a conversation about one project starts from: the project, and what is open. */
export const readOpenProject = defineOperation({
  name: "read_open_project",
  kind: "read",
  input: v.strictObject({ projectId: rowId }),
  output: v.strictObject({
    project: v.strictObject(shownProject.entries),
    counts: projectCounts,
    draftPlans: v.array(draftPlan),
    openThreads: v.array(openThread),
  }),
  run(sql, { projectId }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const newest = "t.project_id = ?1 AND t.deleted_at IS NULL ORDER BY t.seq DESC LIMIT ?3";
    return ok({
      project: v.parse(shownProject, found.value),
      counts: countContents(sql, projectId, caller.authorId),
      draftPlans: [
        ...sql.rows(
          draftPlan,
          `SELECT t.id, t.version, t.name FROM plans t WHERE t.status = ?2 AND ${newest}`,
          projectId,
          "draft",
          MOST_NAMED,
        ),
      ],
      openThreads: [
        ...sql.rows(
          openThread,
          `SELECT t.id, t.title, ${unreadOf("t", "?2")} AS unreadMessages FROM threads t
           WHERE t.status = 'open' AND ${newest}`,
          projectId,
          caller.authorId,
          MOST_NAMED,
        ),
      ],
    });
  },
});
