import * as v from "valibot";
import { jsonText } from "../rows/json-text.ts";
import { synthesisOutput } from "../entities/brainstorm.ts";
import type { Project } from "../entities/project.ts";
import { groupBySource } from "../graph/dependency-graph.ts";
import { orderNodes, readEdges, readNodes } from "../graph/read-graph.ts";
import type { WorkspaceCaller, WorkspaceReads } from "interlock-edge/tools";
import { findPlan } from "../rows/plan-row.ts";
import { findSystem } from "../rows/system-row.ts";
import { toIso } from "../iso-time.ts";
import { inline } from "./markdown-text.ts";
import type { ProjectSources } from "./project-sources.ts";

const MOST_PLANS = 50;
const MOST_SESSIONS = 100;
const MOST_THREADS = 200;
const MOST_QUESTIONS = 200;

const sessionRow = v.object({
  title: v.string(),
  author: v.string(),
  outputs: jsonText(v.array(synthesisOutput)),
});

/** Reads what a document is written from. */
export function readSources(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  { project, title }: { readonly project: Project; readonly title: string },
): ProjectSources {
  const edges = readEdges(sql, project.id);
  const nodes = orderNodes(readNodes(sql, project.id), edges);
  const names = new Map(nodes.map(({ systemId, name }) => [systemId, name]));
  const bySource = groupBySource(edges);
  const newest = (table: string): string =>
    `FROM ${table} WHERE project_id = ? AND deleted_at IS NULL`;
  return {
    project,
    title,
    date: toIso(caller.nowMs).slice(0, "YYYY-MM-DD".length),
    nodes,
    edges,
    plans: sql
      .rows(
        v.object({ id: v.string() }),
        `SELECT id ${newest("plans")} ORDER BY seq LIMIT ?`,
        project.id,
        MOST_PLANS,
      )
      .flatMap(({ id }) => {
        const found = findPlan(sql, caller, { id });
        return found.ok ? [found.value] : [];
      }),
    sessions: sql.rows(
      sessionRow,
      `SELECT title, author, outputs ${newest("brainstorms")} ORDER BY seq LIMIT ?`,
      project.id,
      MOST_SESSIONS,
    ),
    openThreads: sql
      .rows(
        v.object({ title: v.string() }),
        `SELECT title ${newest("threads")} AND status = 'open' ORDER BY seq LIMIT ?`,
        project.id,
        MOST_THREADS,
      )
      .map(({ title: thread }) => thread),
    questions: sql.rows(
      v.object({ name: v.string(), text: v.string() }),
      `SELECT name, open_questions AS text ${newest("systems")} AND open_questions <> ''
       ORDER BY slug LIMIT ?`,
      project.id,
      MOST_QUESTIONS,
    ),
    system(systemId) {
      const found = findSystem(sql, caller, { id: systemId });
      return found.ok ? found.value : undefined;
    },
    dependenciesOf: (systemId) =>
      (bySource.get(systemId) ?? []).map(
        ({ targetSystemId, type }) => `${inline(names.get(targetSystemId) ?? "")} (${type})`,
      ),
  };
}
