import { toCanonicalJson } from "../json/canonical-hash.ts";
import type { SignedCheckpoint } from "./checkpoint.ts";
import type { AuditEntry } from "./entry.ts";
import type { SignedRemoval } from "./removed.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";

/** `prevHash` of the first record of a chain. */
export const GENESIS_HASH = `sha256:${"0".repeat(64)}`;

/**
 * One record of a tenant's audit log. A changed, missing or moved record breaks every later hash.
 */
export interface AuditRecord {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly entry: AuditEntry;
  /** `hash` of the previous record; GENESIS_HASH for the first. */
  readonly prevHash: string;
  /** `sha256:…` over `linkText`. */
  readonly hash: string;
}

/** The end of a chain: `seq` 0 and GENESIS_HASH while the chain is empty. */
export type AuditHead = Pick<AuditRecord, "seq" | "hash">;

/** What the hash of a record covers, with the entry in canonical JSON. */
export interface AuditLink extends Pick<AuditRecord, "seq" | "prevHash"> {
  readonly entryText: string;
}

/**
 * Writes what the hash of a record covers: canonical JSON of `{entry, prevHash, seq}`. It reuses
 * the entry's text, so that each entry is written once.
 */
export function linkText({ seq, prevHash, entryText }: AuditLink): string {
  return `{"entry":${entryText},"prevHash":${JSON.stringify(prevHash)},"seq":${seq}}`;
}

/** Writes an entry in canonical JSON. Fails: throws on a value without a canonical form. */
export function entryText(entry: AuditEntry): string {
  return toCanonicalJson(entry as unknown as JsonObject);
}

/** Writes one line of an export, in canonical JSON. */
export function auditLine(line: AuditRecord | ExportStart | SegmentEnd | ExportEnd): string {
  return `${toCanonicalJson(line as unknown as JsonValue)}\n`;
}

/** The first line of a complete export, when the retention removed records. */
export interface ExportStart {
  readonly removed: SignedRemoval;
}

/** The line of a complete export after the last record of a closed segment. */
export interface SegmentEnd {
  readonly checkpoint: SignedCheckpoint;
}

/** The last line of a complete export. An export without this line is cut off. */
export interface ExportEnd {
  readonly head: AuditHead;
}
