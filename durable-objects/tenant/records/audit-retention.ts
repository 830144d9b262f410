import type { AuditSigner } from "../../../src/capabilities/audit.ts";
import { removalText } from "../../../src/protocol/audit/removed.ts";
import type { AuditLog } from "./audit-log.ts";

/** Records that one alarm removes. */
const MAX_REMOVED = 1_000;

/**
 * Removes the oldest records of an audit log, and keeps a signed summary of them.
 * Threat: somebody who can write the storage removes or changes records, and lets the retention
 * sign for the rest. So it removes only records that follow each other, after a summary that this
 * deployment signed.
 * Contract: a crash removes nothing, or the records together with the storing of their summary.
 * Answers false when the log does not hold, and then removes nothing.
 */
export async function removeOldRecords(
  log: AuditLog,
  { signer, beforeMs }: { readonly signer: AuditSigner; readonly beforeMs: number },
): Promise<boolean> {
  const before = log.removed();
  if (before && !(await signer.hasSigned(removalText(before), before.signature))) return false;
  const plan = log.planRemoval(beforeMs, MAX_REMOVED);
  if (plan === "broken") return false;
  // Without this, a record that is old by its column alone would set the alarm again and again.
  if (!plan) return (log.oldestMs() ?? beforeMs) >= beforeMs;
  const removed = { ...plan, key: await signer.publicKey() };
  log.remove({ ...removed, signature: await signer.sign(removalText(removed)) });
  return true;
}
