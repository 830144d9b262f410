import type { JsonObject } from "../protocol/json/value.ts";
import type { Sources } from "../protocol/label/source.ts";
import { failCall } from "../protocol/outcome/failures.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { Database } from "./database.ts";

/** What an operation answered under a key. */
export type StoredResult = Result<JsonObject, ToolFailure>;

/** One write of a workspace. */
export interface LedgerRow {
  readonly key: string;
  /** `sha256:…` over the operation and its arguments. */
  readonly payloadHash: string;
  /** Whose work the write is. */
  readonly person: string;
  readonly result: StoredResult;
  /** After what the rows were written that it read. */
  readonly sources: Sources;
  /** Unit: Unix milliseconds. */
  readonly expiresAtMs: number;
}

export const LEDGER_TABLE = `CREATE TABLE interlock_ledger (
  seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, payload_hash TEXT NOT NULL,
  person TEXT NOT NULL, result TEXT NOT NULL, sources TEXT NOT NULL, expires_ms INTEGER NOT NULL)`;

/** Rows that one alarm removes. */
const BATCH = 500;

/** Finds what a key is bound to. */
export function findInLedger(
  database: Database,
  key: string,
): Pick<LedgerRow, "payloadHash" | "result" | "sources"> | undefined {
  const [row] = database.query(
    "SELECT payload_hash, result, sources FROM interlock_ledger WHERE key = ?",
    [key],
  );
  if (!row) return undefined;
  const { payload_hash: payloadHash, result, sources } = row as Record<string, string>;
  return {
    payloadHash: payloadHash ?? "",
    result: JSON.parse(result ?? "") as StoredResult,
    sources: JSON.parse(sources ?? "") as Sources,
  };
}

/** Adds a row. Contract: call it in the transaction of the change that it stands for. */
export function addToLedger(
  database: Database,
  { key, payloadHash, person, result, sources, expiresAtMs }: LedgerRow,
): void {
  database.query(
    `INSERT INTO interlock_ledger (key, payload_hash, person, result, sources, expires_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [key, payloadHash, person, JSON.stringify(result), JSON.stringify(sources), expiresAtMs],
  );
}

/** A result of which only is known whether it changed something. */
const BLANK = {
  done: { ok: true, value: {} },
  failed: { ok: false, failure: failCall("operation_failed").failure },
} as const satisfies Readonly<Record<string, StoredResult>>;

/**
 * Takes the person and what was written off the rows of one person. The keys stay, because a key
 * that is not known writes again.
 */
export function blankLedger(database: Database, person: string): void {
  database.query(
    `UPDATE interlock_ledger SET person = '', result = iif(json_extract(result, '$.ok'), ?, ?)
     WHERE person = ?`,
    [JSON.stringify(BLANK.done), JSON.stringify(BLANK.failed), person],
  );
}

/**
 * Removes expired rows from the oldest on, one batch. Answers when it has to be called again;
 * undefined for an empty ledger. A row waits for the older rows before it.
 */
export function cleanLedger(database: Database, nowMs: number): number | undefined {
  const oldest = database.query(
    `SELECT seq, expires_ms FROM interlock_ledger ORDER BY seq LIMIT ${BATCH}`,
  ) as readonly { readonly seq: number; readonly expires_ms: number }[];
  const kept = oldest.findIndex(({ expires_ms: atMs }) => atMs > nowMs);
  const last = oldest.at(kept === -1 ? -1 : kept - 1);
  if (kept !== 0 && last) {
    database.query("DELETE FROM interlock_ledger WHERE seq <= ?", [last.seq]);
  }
  if (kept === -1) return oldest.length === BATCH ? nowMs : undefined;
  return oldest[kept]?.expires_ms;
}
