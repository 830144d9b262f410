import type { AuditRow } from "../../../src/capabilities/audit.ts";
import type { AuditHead, AuditRecord } from "../../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import { toHex } from "../../../src/protocol/text/hex.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import { packText, unpackText } from "../../packed-text.ts";
import { fromHex, packRunId, unpackRunId } from "../../packed-run-id.ts";

const HASH_START = "sha256:";

/** A row with the hash of the row before it; null where there is none. */
export type ChainedRow = AuditRow & { readonly previous: ArrayBuffer | null };

/** Reads rows with the hashes of the rows before them; `WHERE` and the rest follow. */
export const SELECT_CHAINED = `SELECT audit.*, before.hash AS previous FROM audit
  LEFT JOIN audit AS before ON before.seq = audit.seq - 1`;

/** Stored bytes of a row beside its entry, indexes included. */
const ROW_BYTES = 100;

/** Writes a record as a row. `before`: bytes of all records before it. */
export function toAuditRow(entry: AuditEntry, { seq, hash }: AuditHead, before: number): AuditRow {
  const { action, at, runId, ...rest } = entry;
  const atMs = Date.parse(at);
  const isPlain = toIso(atMs) === at;
  const { packed } = packText(JSON.stringify(isPlain ? rest : { ...rest, at }));
  const size = typeof packed === "string" ? packed.length : packed.byteLength;
  return {
    seq,
    action,
    at_ms: atMs,
    run_id: runId === undefined ? null : packRunId(runId),
    hash: packHash(hash),
    bytes: before + ROW_BYTES + size,
    entry: packed,
  };
}

/** Reads the entry of a row. */
export function entryOf({ action, at_ms: atMs, run_id: runId, entry }: AuditRow): AuditEntry {
  return {
    action: action as AuditEntry["action"],
    at: toIso(atMs),
    ...(runId !== null && { runId: unpackRunId(runId) as RunId }),
    ...(JSON.parse(unpackText(entry)) as Partial<AuditEntry>),
  };
}

/**
 * Reads the record of a row. `firstHash`: the hash before the oldest row. A row whose predecessor
 * is gone gets an empty one, which no verification accepts.
 */
export function recordOf(row: ChainedRow, { seq, hash }: AuditHead): AuditRecord {
  const isFirst = row.previous === null && row.seq === seq + 1;
  const previous = row.previous === null ? "" : unpackHash(row.previous);
  return {
    seq: row.seq,
    entry: entryOf(row),
    prevHash: isFirst ? hash : previous,
    hash: unpackHash(row.hash),
  };
}

export function unpackHash(packed: ArrayBuffer): string {
  return `${HASH_START}${toHex(new Uint8Array(packed))}`;
}

function packHash(hash: string): ArrayBuffer {
  return fromHex(hash.slice(HASH_START.length));
}
