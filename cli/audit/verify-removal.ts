import { checkpointText, type SignedCheckpoint } from "../../src/protocol/audit/checkpoint.ts";
import type { AuditHead } from "../../src/protocol/audit/chain.ts";
import { removalText, type SignedRemoval } from "../../src/protocol/audit/removed.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";

const FIELDS = "count,firstSeq,key,lastAt,lastHash,lastSeq,signature";
const CHECKPOINT_FIELDS = "closedAt,count,firstSeq,key,lastHash,lastSeq,signature";

/**
 * Checks the summary of removed records: its fields, its numbers and its signature.
 * Contract: tells what does not hold; undefined for a sound summary. Never throws for what an
 * export may contain.
 */
export async function findRemovalFault(
  removed: JsonObject,
  keys: readonly string[],
): Promise<string | undefined> {
  if (Object.keys(removed).sort().join(",") !== FIELDS) {
    return "it has not the fields of a summary of removed records";
  }
  const summary = removed as unknown as SignedRemoval;
  const { count, firstSeq, lastSeq } = summary;
  const isWhole = Number.isSafeInteger(lastSeq) && lastSeq >= 1;
  if (firstSeq !== 1 || count !== lastSeq || !isWhole) return "its numbers do not fit together";
  return findSignatureFault(summary, removalText(summary), keys);
}

/** The records before a checkpoint, as the lines before it tell. */
export interface Closed {
  /** The last record. */
  readonly last: AuditHead;
  /** `lastSeq` of the checkpoint before; undefined where there is none. */
  readonly afterSeq: number | undefined;
  /** `lastSeq` of the summary of removed records; 0 without one. */
  readonly removedSeq: number;
}

/**
 * Checks a checkpoint: its fields, that it closes the records before it, that it follows the
 * checkpoint before it, and its signature. Contract: as of findRemovalFault.
 */
export async function findCheckpointFault(
  value: JsonObject,
  { last, afterSeq, removedSeq }: Closed,
  keys: readonly string[],
): Promise<string | undefined> {
  if (Object.keys(value).sort().join(",") !== CHECKPOINT_FIELDS) {
    return "it has not the fields of a checkpoint";
  }
  const checkpoint = value as unknown as SignedCheckpoint;
  const { count, firstSeq, lastSeq, lastHash } = checkpoint;
  if (lastSeq !== last.seq || lastHash !== last.hash) {
    return "the checkpoint names another last record";
  }
  // The retention may have removed the start of the oldest segment.
  const follows =
    afterSeq === undefined
      ? firstSeq >= 1 && firstSeq <= removedSeq + 1
      : firstSeq === afterSeq + 1;
  if (!follows || count !== lastSeq - firstSeq + 1) return "its numbers do not fit together";
  return findSignatureFault(checkpoint, checkpointText(checkpoint), keys);
}

async function findSignatureFault(
  signed: SignedRemoval | SignedCheckpoint,
  text: string,
  keys: readonly string[],
): Promise<string | undefined> {
  if (keys.length > 0 && !keys.includes(signed.key)) {
    return "it is signed by another key than --key";
  }
  return (await isSigned(signed, text)) ? undefined : "its signature is forged";
}

async function isSigned(
  { key, signature }: SignedRemoval | SignedCheckpoint,
  text: string,
): Promise<boolean> {
  try {
    const raw = Buffer.from(key, "base64url");
    const publicKey = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
    const bytes = Buffer.from(signature, "base64url");
    const covered = new TextEncoder().encode(text);
    return await crypto.subtle.verify("Ed25519", publicKey, bytes, covered);
  } catch {
    // A key or a signature of another form.
    return false;
  }
}
