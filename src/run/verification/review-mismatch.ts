import type { ActorId } from "../../protocol/identity/ids.ts";
import type { Run } from "../run.ts";

/** The report that an operator reviewed a mismatch. */
interface Review {
  readonly invocation: number;
  readonly by: ActorId;
  readonly atMs: number;
}

/** Stores that an operator reviewed a mismatch. Contract: the first review stays. */
export function reviewMismatch(
  { invocations, journal, notices, store }: Run,
  { invocation, by, atMs }: Review,
): "resolved" | "not_awaited" {
  const record = invocations.find(invocation);
  const { verification } = record ?? {};
  if (verification?.reviewedBy !== undefined) return "resolved";
  const isOver = (verification?.reviewUntilMs ?? 0) <= atMs;
  if (!record || !verification || isOver) return "not_awaited";
  if (!journal.hasEnded || !invocations.isUntoldMismatch(record)) return "not_awaited";
  store.log.batch(() => {
    invocations.verify(invocation, { ...verification, reviewedBy: by });
    notices.mismatchReviewed(record, by, atMs);
  });
  return "resolved";
}
