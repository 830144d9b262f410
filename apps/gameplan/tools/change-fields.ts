import * as v from "valibot";
import type { ChangelogEntry } from "./entities/game-system.ts";
import { toIso } from "./iso-time.ts";
import type { WorkspaceCaller, WorkspaceReads, WorkspaceSql } from "interlock-edge/tools";

type Fields = Readonly<Record<string, string>>;

/** A row whose fields change, and the names of its columns. */
interface ChangedRow {
  readonly table: "projects" | "systems";
  readonly id: string;
  readonly revision: number;
  readonly columnOf: (field: string) => string;
}

/**
 * Sets fields of a row and adds the earlier values to its changelog, so that they can be reverted.
 * `now` holds the row's values of today. Fields with the same value are no change.
 */
export function changeFields(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  change: ChangedRow & { readonly now: Fields; readonly next: Fields; readonly summary: string },
): ChangelogEntry {
  const { table, id, revision, columnOf, now, next, summary } = change;
  const fields = Object.keys(next).filter((field) => next[field] !== now[field]);
  sql.run(
    `UPDATE ${table} SET ${fields.map((field) => `${columnOf(field)} = ?, `).join("")}
       revision = ?, updated_at = ? WHERE id = ?`,
    ...fields.map((field) => next[field] ?? ""),
    revision + 1,
    caller.nowMs,
    id,
  );
  const before = Object.fromEntries(fields.map((field) => [field, now[field] ?? ""]));
  return addToChangelog(sql, caller, { id, revision: revision + 1, summary, before });
}

/** Adds one entry to the changelog of a row. `before` holds the earlier values of its fields. */
export function addToChangelog(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  entry: {
    readonly id: string;
    readonly revision: number;
    readonly summary: string;
    readonly before: Fields;
  },
): ChangelogEntry {
  const { id, revision, summary, before } = entry;
  const entryId = caller.newId();
  sql.run(
    `INSERT INTO changelog (id, entity_id, revision, at, author, summary, before)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    entryId,
    id,
    revision,
    caller.nowMs,
    caller.authorId,
    summary,
    JSON.stringify(before),
  );
  const fields = Object.keys(before);
  const author: string = caller.authorId;
  return { id: entryId, at: toIso(caller.nowMs), author, revision, summary, fields };
}

const beforeText = v.pipe(
  v.string(),
  v.transform((text): unknown => JSON.parse(text)),
  v.record(v.string(), v.string()),
);

const entryRow = v.object({
  id: v.string(),
  at: v.number(),
  author: v.string(),
  revision: v.number(),
  summary: v.string(),
  before: beforeText,
});

const ENTRY_COLUMNS = "id, at, author, revision, summary, before";

/** Reads the newest entries of a row's changelog. */
export function readChangelog(sql: WorkspaceReads, id: string, most: number): ChangelogEntry[] {
  const query = `SELECT ${ENTRY_COLUMNS} FROM changelog WHERE entity_id = ?
    ORDER BY revision DESC LIMIT ?`;
  return sql.rows(entryRow, query, id, most).map(toEntry);
}

function toEntry({ before, ...entry }: v.InferOutput<typeof entryRow>): ChangelogEntry {
  return { ...entry, at: toIso(entry.at), fields: Object.keys(before) };
}

/** Reads what a row's fields were before the change that made a revision. */
export function readEarlierFields(
  sql: WorkspaceReads,
  id: string,
  revision: number,
): Fields | undefined {
  const query = `SELECT ${ENTRY_COLUMNS} FROM changelog WHERE entity_id = ? AND revision = ?`;
  return sql.first(entryRow, query, id, revision)?.before;
}
