import type { JsonObject } from "../../src/protocol/json/value.ts";
import { isJsonObject } from "../../src/protocol/json/value.ts";
import type { Migration } from "../storage-version.ts";

/**
 * Migrations of a run's tables, oldest first; their number is the version of this code. A change of
 * the tables, or of a JSON field in them, adds one. Contract: a migration that was released never
 * changes.
 */
export const RUN_MIGRATIONS: readonly Migration[] = [nameFingerprints];

/** Renames two fields of a call's lesson. */
function nameFingerprints(sql: SqlStorage): void {
  const rows = sql
    .exec<{ seq: number; ending: string }>(
      "SELECT seq, ending FROM invocations WHERE ending IS NOT NULL",
    )
    .toArray();
  for (const { seq, ending } of rows) {
    const end = JSON.parse(ending) as JsonObject;
    const { lesson } = end;
    if (!isJsonObject(lesson)) continue;
    const { argumentsPrint, resultPrint, ...rest } = lesson;
    const renamed = {
      ...rest,
      argumentsFingerprint: argumentsPrint,
      resultFingerprint: resultPrint,
    };
    const text = JSON.stringify({ ...end, lesson: renamed });
    sql.exec("UPDATE invocations SET ending = ? WHERE seq = ?", text, seq);
  }
}
