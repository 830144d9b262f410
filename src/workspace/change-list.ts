import type { Database } from "./database.ts";

/** One change that an operation announced. */
export interface WorkspaceChange {
  readonly entity: string;
  readonly id: string;
  /** From 1, one more for each change of the workspace. */
  readonly revision: number;
}

export const CHANGES_TABLE =
  "CREATE TABLE interlock_changes (revision INTEGER PRIMARY KEY, entity TEXT NOT NULL, id TEXT NOT NULL)";

/** Changes that are kept for pages that come back. */
const KEPT = 1_000;
/** Old changes are removed this many at a time. */
const PRUNE_EVERY = 100;

/** Reads the revision of the newest change; 0 when there is none. */
export function newestRevision(database: Database): number {
  const [row] = database.query("SELECT max(revision) AS newest FROM interlock_changes");
  return (row?.["newest"] as number | null | undefined) ?? 0;
}

/** Adds a change. Contract: call it in the transaction of the change. */
export function addChange(
  database: Database,
  { entity, id }: Pick<WorkspaceChange, "entity" | "id">,
): WorkspaceChange {
  const revision = newestRevision(database) + 1;
  database.query("INSERT INTO interlock_changes (revision, entity, id) VALUES (?, ?, ?)", [
    revision,
    entity,
    id,
  ]);
  if (revision % PRUNE_EVERY === 0) {
    database.query("DELETE FROM interlock_changes WHERE revision <= ?", [revision - KEPT]);
  }
  return { entity, id, revision };
}

/** Reads the changes after a revision; undefined when some of them are not kept any more. */
export function changesAfter(
  database: Database,
  revision: number,
): readonly WorkspaceChange[] | undefined {
  const rows = database.query(
    "SELECT revision, entity, id FROM interlock_changes WHERE revision > ? ORDER BY revision",
    [revision],
  ) as readonly unknown[] as readonly WorkspaceChange[];
  const next = rows[0]?.revision ?? newestRevision(database) + 1;
  return next === revision + 1 ? rows : undefined;
}
