import type { ErasedRows, PersonPage, PersonRows } from "../capabilities/people.ts";
import type { WorkspaceDefinition } from "../contracts/define/define-workspace.ts";
import type { ActorId } from "../protocol/identity/ids.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { Database } from "./database.ts";
import { blankLedger } from "./ledger.ts";
import { createSql } from "./operation-sql.ts";
import { rollBackUnless } from "./run-operation.ts";

/** Rows of one page, and of one batch. */
const BATCH = 500;

/** Reads a page of what a workspace holds of a person. Fails: throws what its author throws. */
export function exportPerson(
  database: Database,
  { exportPerson: read }: WorkspaceDefinition,
  page: PersonPage,
): PersonRows {
  if (!read) return { kind: "undeclared" };
  const { rows, next } = rollBackUnless(
    database,
    () => false,
    () => read(createSql(database), { ...page, limit: BATCH }),
  );
  // The author's objects do not leave the object as they are.
  const own = JSON.parse(JSON.stringify(rows)) as readonly JsonObject[];
  return { kind: "rows", rows: own, ...(next !== undefined && { next }) };
}

/** Erases a batch of what a workspace holds of a person, and of the ledger all. Fails: as above. */
export function erasePerson(
  database: Database,
  { erasePerson: erase }: WorkspaceDefinition,
  personId: ActorId,
): ErasedRows {
  return database.transaction(() => {
    blankLedger(database, personId);
    if (!erase) return { kind: "undeclared" };
    const rows = erase(createSql(database), { personId, limit: BATCH });
    return { kind: "erased", rows, isMore: rows >= BATCH };
  });
}
