import { createHash } from "node:crypto";
import { GENESIS_HASH, type AuditRecord } from "../../src/protocol/audit/chain.ts";
import { toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import type { SignedRemoval } from "../../src/protocol/audit/removed.ts";
import { isJsonObject, type JsonObject } from "../../src/protocol/json/value.ts";
import { findCheckpointFault, findRemovalFault } from "./verify-removal.ts";

/** Result of a check. Lines count from 1. */
export type Verdict =
  | {
      readonly kind: "whole";
      /** Records in the export. */
      readonly count: number;
      readonly lastHash: string;
      /** Segments of the log that a signed checkpoint closes. */
      readonly segments: number;
      /** The records before them, as a signed summary tells. */
      readonly removed?: SignedRemoval;
    }
  | { readonly kind: "broken"; readonly line: number; readonly why: string };

export interface VerifyOptions {
  /** Hash that the last record must have. Without it, a missing tail stays unnoticed. */
  readonly head?: string | undefined;
  /** Hash that one of the records must have: the head of an earlier export. */
  readonly known?: string | undefined;
  /** Public keys that may have signed the summary of removed records and the checkpoints. */
  readonly keys?: readonly string[];
  readonly progress?: (count: number) => void;
}

const PROGRESS_EVERY = 10_000;
const FIELDS = "entry,hash,prevHash,seq";

/**
 * Checks every line of an export, one at a time: its canonical form, its number, that it follows
 * the one before it, and its hash; then its end line. The first line may be a signed summary of
 * removed records, which the first record then follows. A signed checkpoint may follow a record.
 * Contract: tells the first line that does not hold, and why; never throws for what an export may
 * contain.
 */
export async function verifyChain(
  lines: AsyncIterable<string>,
  { head, known, keys = [], progress }: VerifyOptions,
): Promise<Verdict> {
  let last: Pick<AuditRecord, "seq" | "hash"> = { seq: 0, hash: GENESIS_HASH };
  let line = 0;
  let hasEnded = false;
  let removed: SignedRemoval | undefined;
  let segments = 0;
  let afterSeq: number | undefined;
  let isKnown = known === undefined || known === last.hash;
  for await (const text of lines) {
    line++;
    const value = parse(text);
    if (typeof value === "string") return { kind: "broken", line, why: value };
    if (hasEnded) return { kind: "broken", line, why: "something follows the end line" };
    if (line === 1 && isJsonObject(value["removed"])) {
      const why = await findRemovalFault(value["removed"], keys);
      if (why !== undefined) return { kind: "broken", line, why };
      removed = value["removed"] as unknown as SignedRemoval;
      last = { seq: removed.lastSeq, hash: removed.lastHash };
      isKnown ||= last.hash === known;
    } else if (isJsonObject(value["checkpoint"])) {
      const closed = { last, afterSeq, removedSeq: removed?.lastSeq ?? 0 };
      const why = await findCheckpointFault(value["checkpoint"], closed, keys);
      if (why !== undefined) return { kind: "broken", line, why };
      segments++;
      afterSeq = last.seq;
    } else if ("head" in value) {
      if (text !== toCanonicalJson({ head: { hash: last.hash, seq: last.seq } })) {
        return { kind: "broken", line, why: "the end line names another last record" };
      }
      hasEnded = true;
    } else {
      const why = findFault(value, last);
      if (why !== undefined) return { kind: "broken", line, why };
      last = value as unknown as AuditRecord;
      isKnown ||= last.hash === known;
      if (last.seq % PROGRESS_EVERY === 0) progress?.(last.seq);
    }
  }
  if (!hasEnded) return { kind: "broken", line: line + 1, why: "the end line is missing" };
  if (head !== undefined && head !== last.hash) {
    return { kind: "broken", line, why: "the last record is not the one of --head" };
  }
  if (!isKnown) {
    const hint = removed ? "; it may be among those that were removed" : "";
    return { kind: "broken", line, why: `no record is the one of --known${hint}` };
  }
  const count = last.seq - (removed?.lastSeq ?? 0);
  return { kind: "whole", count, segments, lastHash: last.hash, ...(removed && { removed }) };
}

/** Reads a line. Returns the problem as text when the line is not a record. */
function parse(text: string): JsonObject | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  if (!isJsonObject(value)) return "it is not a JSON object";
  try {
    return toCanonicalJson(value) === text ? value : "it is not in canonical form";
  } catch {
    return "it has no canonical form";
  }
}

function findFault(
  record: JsonObject,
  last: Pick<AuditRecord, "seq" | "hash">,
): string | undefined {
  if (Object.keys(record).sort().join(",") !== FIELDS) return "it has not the fields of a record";
  const { seq, prevHash, hash } = record;
  if (seq !== last.seq + 1) {
    return `its number is ${JSON.stringify(seq)}, and ${last.seq + 1} is due`;
  }
  if (prevHash !== last.hash) return "it does not follow the record before it";
  const link = toCanonicalJson({ entry: record["entry"] ?? null, prevHash, seq });
  const expected = `sha256:${createHash("sha256").update(link).digest("hex")}`;
  return hash === expected ? undefined : "its hash is not that of its content";
}
