import { toCanonicalJson } from "./canonical-hash.ts";
import type { AuditEntry } from "./audit-entry.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** What the first record of a chain follows. */
export const GENESIS_HASH = `sha256:${"0".repeat(64)}`;

/** One link of a tenant's audit log: whoever changes, drops or moves one breaks every hash after it. */
export interface AuditRecord {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly entry: AuditEntry;
  /** `hash` of the record before, GENESIS_HASH for the first. */
  readonly prevHash: string;
  /** `sha256:…` over `linkText`. */
  readonly hash: string;
}

/** Where a chain ends; `seq` 0 and GENESIS_HASH while it is empty. */
export type AuditHead = Pick<AuditRecord, "seq" | "hash">;

/** Writes what the hash of a record covers: canonical JSON of `{entry, prevHash, seq}`. */
export function linkText({ seq, entry, prevHash }: Omit<AuditRecord, "hash">): string {
  return toCanonicalJson({ seq, prevHash, entry: entry as unknown as JsonObject });
}

/** Writes one line of an export, in canonical JSON. */
export function auditLine(line: AuditRecord | ExportEnd): string {
  return `${toCanonicalJson(line as unknown as JsonValue)}\n`;
}

/** The last line of a whole export: without it, its tail was lost on the way. */
export interface ExportEnd {
  readonly head: AuditHead;
}
