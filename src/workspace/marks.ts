import { joinSources, type Sources } from "../protocol/label/source.ts";
import type { WorkspaceChange } from "./change-list.ts";
import type { Database } from "./database.ts";

/** What was written after text of others. The runtime alone writes here, and removes nothing. */
export const MARKS_TABLE = `CREATE TABLE interlock_marks (
  entity TEXT NOT NULL, id TEXT NOT NULL, sources TEXT NOT NULL, PRIMARY KEY (entity, id))`;

/** An entity as operations announce it. */
type Entity = Pick<WorkspaceChange, "entity" | "id">;

/** Tells after what an entity was written; nothing for one without a mark. */
export function markOf(database: Database, { entity, id }: Entity): Sources {
  const text = "SELECT sources FROM interlock_marks WHERE entity = ? AND id = ?";
  const [row] = database.query(text, [entity, id]);
  return row ? (JSON.parse(row["sources"] as string) as Sources) : [];
}

/**
 * Marks an entity. Contract: call it in the transaction of the change; sources are only added.
 * Threat: a clean write changes one field of a note, and the others keep what a stranger wrote.
 */
export function addMark(database: Database, change: Entity, sources: Sources): void {
  if (sources.length === 0) return;
  const { entity, id } = change;
  const joined = JSON.stringify(joinSources(markOf(database, change), sources));
  database.query("INSERT OR REPLACE INTO interlock_marks VALUES (?, ?, ?)", [entity, id, joined]);
}
