import type { AuditSigner, RemovalPlan } from "../../../src/capabilities/audit.ts";
import { removalText, type SignedRemoval } from "../../../src/protocol/audit/removed.ts";
import type { AuditBook } from "./audit-book.ts";
import { isMoving, type Segment } from "./audit-summaries.ts";

/** What the retention removes. */
interface Removal {
  readonly storage: DurableObjectStorage;
  readonly signer: AuditSigner;
  readonly beforeMs: number;
}

/**
 * Removes the oldest records of an audit log, and keeps a signed summary of them. Those in an
 * archive go with the next call, or with their archive.
 * Threat: somebody who can write the storage removes or changes records, and lets the retention
 * sign for the rest. So it removes only records that follow each other, after a summary that this
 * deployment signed.
 * Contract: a crash removes nothing, or the records together with the storing of their summary.
 * Answers false when the log does not hold, and then removes nothing.
 */
export async function removeOldRecords(book: AuditBook, removal: Removal): Promise<boolean> {
  const { log, summaries } = book;
  const { storage, signer, beforeMs } = removal;
  const before = summaries.removed();
  if (before && !(await signer.hasSigned(removalText(before), before.signature))) return false;
  const [segment] = summaries.segments();
  // The oldest records stay until all of the segment are in one place.
  if (segment && isMoving(segment)) return true;
  if (segment && before && before.lastSeq >= segment.checkpoint.lastSeq) {
    if (await book.archiveOf(segment).drop()) summaries.forget(segment);
    return true;
  }
  const plan = await planRemoval(book, segment, beforeMs);
  if (plan === undefined || plan === "broken") return plan === undefined;
  if (plan.last) {
    const removed = await sign(plan.last, signer);
    storage.transactionSync(() => {
      summaries.putRemoved(removed);
      if (!segment) log.deleteUpTo(removed.lastSeq);
    });
    return true;
  }
  if (segment) summaries.putSegment({ ...segment, oldestMs: plan.nextMs ?? segment.oldestMs });
  // Without this, a record that is old by its column alone would set the alarm again and again.
  return segment !== undefined || (log.oldestMs() ?? beforeMs) >= beforeMs;
}

function planRemoval(
  book: AuditBook,
  segment: Segment | undefined,
  beforeMs: number,
): Promise<RemovalPlan | undefined> | RemovalPlan {
  const { log, summaries } = book;
  const query = { start: summaries.startAfter([]), beforeMs };
  return segment
    ? book.archiveOf(segment).plan({ ...query, lastSeq: segment.checkpoint.lastSeq })
    : log.planRemoval({ ...query, lastSeq: log.beforeHead().seq });
}

async function sign(
  { seq: lastSeq, hash: lastHash, at: lastAt }: NonNullable<Exclude<RemovalPlan, "broken">["last"]>,
  signer: AuditSigner,
): Promise<SignedRemoval> {
  const key = await signer.publicKey();
  const removed = { count: lastSeq, firstSeq: 1, lastSeq, lastHash, lastAt, key };
  return { ...removed, signature: await signer.sign(removalText(removed)) };
}
