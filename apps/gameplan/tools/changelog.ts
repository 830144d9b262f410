import * as v from "valibot";
import type { ChangelogEntry } from "./entities/game-system.ts";
import { toIso } from "./iso-time.ts";
import { fieldsText, type Fields } from "./rows/row-fields.ts";
import type { WorkspaceCaller, WorkspaceReads, WorkspaceSql } from "interlock-edge/tools";

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

const entryRow = v.object({
  id: v.string(),
  at: v.number(),
  author: v.string(),
  revision: v.number(),
  summary: v.string(),
  before: fieldsText,
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
