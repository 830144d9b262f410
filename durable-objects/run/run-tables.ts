import { writeVersion } from "../storage-version.ts";
import { RUN_MIGRATIONS } from "./run-migrations.ts";

/** More notices than a run can send per millisecond between its start and its deletion. */
const NOTICES_PER_MS = 1_000;

/**
 * Creates the tables of a run. They exist only once the run is claimed, so a read of an unknown run
 * writes nothing. Notices are numbered from the creation time, so no number is used twice, even
 * when the run is deleted and started again under the same id.
 */
export function createRunTables(sql: SqlStorage, createdMs: number): void {
  sql.exec(
    `CREATE TABLE run (
       id INTEGER PRIMARY KEY CHECK (id = 1), run_id TEXT NOT NULL, model TEXT NOT NULL,
       request_hash TEXT, owner TEXT NOT NULL, claim TEXT, claimed_messages INTEGER NOT NULL, created_ms INTEGER NOT NULL,
       steps INTEGER NOT NULL, usage TEXT NOT NULL, facts TEXT NOT NULL, title TEXT, reason TEXT,
       error TEXT, ended_ms INTEGER,
       epoch INTEGER NOT NULL, recoveries INTEGER NOT NULL, recovered_step INTEGER NOT NULL,
       stop TEXT, is_waiting INTEGER NOT NULL
     );
     CREATE TABLE messages (
       seq INTEGER NOT NULL, part INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (seq, part)
     ) WITHOUT ROWID;
     CREATE TABLE invocations (
       seq INTEGER PRIMARY KEY, step INTEGER NOT NULL, tool_call_id TEXT NOT NULL,
       part INTEGER NOT NULL, name TEXT NOT NULL, arguments_text TEXT NOT NULL,
       truncated INTEGER NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('PENDING', 'COMPLETED', 'FAILED_RETRYABLE',
         'FAILED_FINAL', 'COMPENSATED', 'EXPIRED')),
       dispatches INTEGER NOT NULL, binding TEXT, args TEXT, amounts TEXT,
       awaited_until_ms INTEGER, settlement TEXT, asked_ms INTEGER NOT NULL, ending TEXT,
       UNIQUE (step, tool_call_id)
     );
     CREATE TABLE approvals (
       invocation INTEGER NOT NULL, generation INTEGER NOT NULL, status TEXT NOT NULL,
       tool_id TEXT NOT NULL, payload_hash TEXT NOT NULL, body TEXT NOT NULL,
       PRIMARY KEY (invocation, generation)
     ) WITHOUT ROWID;
     CREATE TABLE inbox (seq INTEGER PRIMARY KEY, request_key TEXT, body TEXT NOT NULL);
     CREATE TABLE events (
       first_seq INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, epoch INTEGER NOT NULL,
       body TEXT NOT NULL
     );
     CREATE TABLE outbox (
       seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, number INTEGER NOT NULL, body TEXT
     );`,
  );
  writeVersion(sql, RUN_MIGRATIONS.length);
  // The tenant's object may still know the numbers of a deleted run with the same id.
  sql.exec(
    "INSERT INTO sqlite_sequence (name, seq) VALUES ('outbox', ?)",
    createdMs * NOTICES_PER_MS,
  );
}
