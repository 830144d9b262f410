import * as v from "valibot";
import { jsonText } from "../rows/json-text.ts";
import { defineOperation, ok, type WorkspaceReads } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { cutText } from "../cut-text.ts";
import { entityName } from "../entities/activity.ts";
import { count, rowId } from "../entities/fields.ts";
import { SYSTEM_TEXTS } from "../entities/system-texts.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { TABLES } from "../rows/entity-row.ts";
import { findProject } from "../rows/project-row.ts";
import { columnOf } from "../rows/row-fields.ts";

/** The texts of each kind of row that are searched. */
const SEARCHED = {
  system: ["name", "systemSlug", ...SYSTEM_TEXTS],
  version_plan: ["version", "name", "goal"],
  idea_thread: ["title"],
  idea_message: ["text"],
  brainstorm: ["title", "results", "content"],
} as const;

/** SQL of texts that are no column. */
const RESULTS = `(SELECT coalesce(group_concat(value ->> 'text', char(10)), '')
  FROM json_each(outputs)) AS results`;
const OF_LIVE_THREADS = "thread_id IN (SELECT id FROM threads WHERE deleted_at IS NULL)";

/** Rows of each kind that one search looks at, the newest first, and that it shows. */
const MOST_LOOKED_AT = 2_000;
const MOST_SHOWN = 10;
const EXCERPT_CHARS = 160;
const BEFORE_MATCH = 40;

const hitRow = v.object({
  id: v.string(),
  name: v.string(),
  threadId: v.nullable(v.string()),
  number: v.nullable(v.number()),
  texts: jsonText(v.array(v.string())),
});

const hit = v.strictObject({
  entity: entityName,
  id: rowId,
  /** Of a message: the title of its thread. */
  name: v.string(),
  /** Where the text stands, and what stands around it. */
  field: v.string(),
  excerpt: v.string(),
  /** Of a message: its thread, and its place in it. */
  threadId: v.nullable(rowId),
  number: v.nullable(count),
});

/** Finds a text in a project: the newest rows of each kind, with the place of the match. */
export const searchProject = defineOperation({
  name: "search_project",
  kind: "read",
  input: v.strictObject({
    projectId: rowId,
    text: v.pipe(v.string(), v.regex(/\S/), v.maxLength(80)),
  }),
  output: v.strictObject({
    items: v.array(hit),
    /** Kinds of rows with more matches than the first 10. */
    more: v.array(entityName),
  }),
  run(sql, { projectId, text }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const kinds = Object.keys(SEARCHED) as (keyof typeof SEARCHED)[];
    const hits = kinds.map((entity) => ({ entity, rows: find(sql, { entity, projectId, text }) }));
    return ok({
      items: hits.flatMap(({ rows }) => rows.slice(0, MOST_SHOWN)),
      more: hits.flatMap(({ entity, rows }) => (rows.length > MOST_SHOWN ? [entity] : [])),
    });
  },
});

/** Threat: names of tables and columns are code; what people search for is a binding. */
function find(
  sql: WorkspaceReads,
  search: {
    readonly entity: keyof typeof SEARCHED;
    readonly projectId: string;
    readonly text: string;
  },
): readonly v.InferOutput<typeof hit>[] {
  const { entity, projectId, text } = search;
  const { table, title: ownTitle } = TABLES[entity];
  const fields = SEARCHED[entity];
  const isMessage = entity === "idea_message";
  const columns = fields.map(columnOf);
  const name = isMessage ? "(SELECT title FROM threads WHERE id = thread_id)" : ownTitle;
  const rows = sql.rows(
    hitRow,
    `SELECT id, ${name} AS name, json_array(${columns.join(", ")}) AS texts,
       ${isMessage ? "thread_id AS threadId, number" : "NULL AS threadId, NULL AS number"}
     FROM (SELECT *${entity === "brainstorm" ? `, ${RESULTS}` : ""} FROM ${table}
       WHERE project_id = ? AND deleted_at IS NULL ${isMessage ? `AND ${OF_LIVE_THREADS}` : ""}
       ORDER BY seq DESC LIMIT ${MOST_LOOKED_AT})
     WHERE instr(lower(${columns.join(" || char(10) || ")}), lower(?)) > 0
     LIMIT ${MOST_SHOWN + 1}`,
    projectId,
    text,
  );
  return rows.map(({ id, name: title, threadId, number, texts }) => {
    const { field, excerpt } = placeOf(text, fields, texts);
    return { entity, id, name: title, field, excerpt, threadId, number };
  });
}

/** Finds the field that holds a text, and cuts out what stands around it. */
function placeOf(
  text: string,
  fields: readonly string[],
  texts: readonly string[],
): { readonly field: string; readonly excerpt: string } {
  const wanted = text.toLowerCase();
  const places = texts.map((found) => found.toLowerCase().indexOf(wanted));
  const index = Math.max(
    0,
    places.findIndex((at) => at >= 0),
  );
  const from = Math.max(0, (places[index] ?? 0) - BEFORE_MATCH);
  const excerpt = cutText((texts[index] ?? "").slice(from), EXCERPT_CHARS);
  return { field: fields[index] ?? "", excerpt };
}

export const searchProjectTool = gameplanTool(searchProject, {
  description: "Finds a text in a project.",
  service: "projectService",
  done: ({ items }) => `Found ${formatCount(items.length, "place")}`,
  isHidden: true,
});
