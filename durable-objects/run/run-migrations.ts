import type { JsonObject } from "../../src/protocol/json/value.ts";
import { isJsonObject } from "../../src/protocol/json/value.ts";
import type { Migration } from "../storage-version.ts";
import { hasTable } from "../has-table.ts";
import { mergeIntoLog } from "./merge-into-log.ts";

/**
 * Migrations of a run's tables, oldest first; their number is the version of this code. A change of
 * the tables, or of a JSON field in them, adds one. Contract: a migration that was released never
 * changes.
 */
export const RUN_MIGRATIONS: readonly Migration[] = [
  nameFingerprints,
  withholdKeyHashes,
  addPrompt,
  mergeIntoLog,
  compressLog,
  shareWhatRepeats,
];

/**
 * Version 6 has the deadlines in the row of the run, and the number of the last notice that was
 * delivered: both change after the end of a run, and then share a page. A row of its log may be
 * compressed with an earlier one as its dictionary, and its records may have a verification.
 */
function shareWhatRepeats(sql: SqlStorage): void {
  sql.exec(
    `ALTER TABLE run ADD COLUMN deadlines TEXT NOT NULL DEFAULT '{}';
     ALTER TABLE run ADD COLUMN delivered_seq INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE log ADD COLUMN base INTEGER;`,
  );
  if (!hasTable(sql, "deadlines")) return;
  sql.exec(
    `UPDATE run SET deadlines = (SELECT json_group_object(name, json(CASE WHEN at_ms IS NULL
       THEN json_object('leftMs', left_ms) ELSE json_object('atMs', at_ms) END)) FROM deadlines);
     DROP TABLE deadlines;`,
  );
}

/** The log of version 5 may hold compressed texts, which earlier code cannot read. */
function compressLog(sql: SqlStorage): void {
  sql.exec("ALTER TABLE log ADD COLUMN saved INTEGER NOT NULL DEFAULT 0");
}

/** Version 3 may have a table `prompt`: code that does not know it would drop the instructions. */
function addPrompt(): void {}

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

/** Stands for a plain hash that earlier code stored where people read it. */
const WITHHELD = "withheld";

/** Removes the plain hash of an idempotency key from stored packets, and from events with one. */
function withholdKeyHashes(sql: SqlStorage): void {
  sql.exec(
    "UPDATE approvals SET body = json_replace(body, '$.packet.idempotencyFingerprint', ?)",
    WITHHELD,
  );
  const rows = sql
    .exec<{ first_seq: number; body: string }>(
      `SELECT first_seq, body FROM events WHERE body LIKE '%"approval_requested"%'`,
    )
    .toArray();
  for (const { first_seq: seq, body } of rows) {
    const events = JSON.parse(body) as readonly JsonObject[];
    const text = JSON.stringify(events.map(withoutKeyHash));
    sql.exec("UPDATE events SET body = ? WHERE first_seq = ?", text, seq);
  }
}

function withoutKeyHash(event: JsonObject): JsonObject {
  const { packet, lines } = event;
  if (event["type"] !== "approval_requested" || !isJsonObject(packet)) return event;
  const withhold = (line: JsonObject): JsonObject =>
    line["field"] === "idempotencyFingerprint" ? { ...line, text: WITHHELD } : line;
  return {
    ...event,
    packet: { ...packet, idempotencyFingerprint: WITHHELD },
    ...(Array.isArray(lines) && { lines: lines.map(withhold) }),
  };
}
