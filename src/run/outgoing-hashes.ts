import type { ApprovalAnswer, DecisionAnswer } from "../capabilities/run.ts";
import type { SentNotice } from "../capabilities/tenant.ts";
import type { Fingerprints } from "../capabilities/fingerprints.ts";
import { lazily } from "../protocol/text/lazily.ts";
import type { StoredFacts } from "./stored-run.ts";

/**
 * Makes the fingerprint of a hash of this run. The rows of the run keep the hash. What leaves its
 * object carries the fingerprint: answers about approvals and audit notices (below), the state of
 * the run (run-state-of), packets (build-packet) and records in KV (kv-run-records).
 */
export type FingerprintOf = (hash: string) => Promise<string>;

/** Gives the fingerprints of one run. */
export function fingerprintsOf(
  store: Pick<StoredFacts, "identity">,
  compose: () => Fingerprints,
): FingerprintOf {
  const fingerprints = lazily(compose);
  return (hash) => {
    const { runId, owner } = store.identity();
    return fingerprints().of({ tenantId: owner.tenantId, runId }, hash);
  };
}

/** Replaces the payload's hash in an answer about an approval. */
export async function answerWithFingerprint<Answer extends ApprovalAnswer | DecisionAnswer>(
  answer: Answer,
  fingerprintOf: FingerprintOf,
): Promise<Answer> {
  if (!("approval" in answer)) return answer;
  const payloadHash = await fingerprintOf(answer.approval.payloadHash);
  return { ...answer, approval: { ...answer.approval, payloadHash } };
}

/** Replaces the payload's hash in a notice for the object of the tenant. */
export async function noticeWithFingerprint(
  sent: SentNotice,
  fingerprintOf: FingerprintOf,
): Promise<SentNotice> {
  const { notice } = sent;
  if (notice.type !== "audit" || notice.entry.payloadHash === undefined) return sent;
  const payloadHash = await fingerprintOf(notice.entry.payloadHash);
  return { ...sent, notice: { ...notice, entry: { ...notice.entry, payloadHash } } };
}
