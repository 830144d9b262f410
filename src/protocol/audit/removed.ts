import { toCanonicalJson } from "../json/canonical-hash.ts";
import type { JsonObject } from "../json/value.ts";

/**
 * Summary of the records that the retention removed from the start of a chain. The first record
 * that is left follows `lastHash`.
 */
export interface RemovedRecords {
  readonly count: number;
  /** Always 1: the retention removes from the start of the chain. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** `hash` of the last removed record. */
  readonly lastHash: string;
  /** `at` of the last removed record. */
  readonly lastAt: string;
  /** Public key of the signature: Ed25519, base64url. */
  readonly key: string;
}

/** The summary as the log stores and exports it. */
export interface SignedRemoval extends RemovedRecords {
  /** Ed25519 over `removalText`, base64url. */
  readonly signature: string;
}

/** Writes what the signature covers: canonical JSON of the summary without its signature. */
export function removalText(removed: RemovedRecords): string {
  const { count, firstSeq, lastSeq, lastHash, lastAt, key } = removed;
  const facts: JsonObject = { count, firstSeq, lastSeq, lastHash, lastAt, key };
  return toCanonicalJson(facts);
}
