import { toCanonicalJson } from "../json/canonical-hash.ts";
import type { JsonObject } from "../json/value.ts";

/**
 * What a deployment signs when it closes a segment of an audit log. The first record after the
 * segment follows `lastHash`.
 */
export interface Checkpoint {
  readonly count: number;
  /** Follows the last record of the segment before. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** `hash` of the last record. */
  readonly lastHash: string;
  /** When the segment was closed. */
  readonly closedAt: string;
  /** Public key of the signature: Ed25519, base64url. */
  readonly key: string;
}

/** The checkpoint as the log stores and exports it. */
export interface SignedCheckpoint extends Checkpoint {
  /** Ed25519 over `checkpointText`, base64url. */
  readonly signature: string;
}

/**
 * Writes what the signature covers: canonical JSON of the checkpoint without its signature.
 * Threat: the summary of removed records is signed with the same key. It has other fields, so
 * neither passes for the other.
 */
export function checkpointText(checkpoint: Checkpoint): string {
  const { count, firstSeq, lastSeq, lastHash, closedAt, key } = checkpoint;
  const facts: JsonObject = { count, firstSeq, lastSeq, lastHash, closedAt, key };
  return toCanonicalJson(facts);
}
