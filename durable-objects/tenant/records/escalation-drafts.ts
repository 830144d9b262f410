import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { EscalationReason } from "../../../src/protocol/escalation/escalation.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import type { AwaitedOutcome } from "../../../src/protocol/run/awaited-outcome.ts";
import type { EscalationDraft, Settlement } from "./escalation-list.ts";

/** Makes the escalation of an audit entry of a run; undefined for most entries. */
export function draftOfEntry(entry: AuditEntry, runId: RunId): EscalationDraft | undefined {
  const {
    escalation,
    invocationId,
    approvalId,
    toolId,
    toolTitle,
    toolVersion,
    toolOwner,
    outcome,
  } = entry;
  if (escalation === undefined || entry.action === "approval.closed") return undefined;
  const requestedBy = entry.subjectId ?? entry.actorId;
  return {
    reason: escalation,
    runId,
    ...(invocationId !== undefined && { invocationId }),
    ...(approvalId !== undefined && { approvalId }),
    ...(toolId !== undefined && { toolId }),
    ...(toolTitle !== undefined && { toolTitle }),
    ...(toolVersion !== undefined && { toolVersion }),
    ...(toolOwner !== undefined && { owner: toolOwner }),
    ...(requestedBy !== undefined && { requestedBy }),
    ...(outcome !== undefined && { outcome }),
    ...(entry.reason !== undefined && { code: entry.reason }),
  };
}

/** Makes the escalation of a call that an operator has to report about. */
export function draftOfOutcome(outcome: AwaitedOutcome): EscalationDraft {
  const { runId, invocationId, toolId, toolTitle, toolVersion, owner, requestedBy } = outcome;
  const until = outcome.awaitsOutcomeUntil;
  const reason = reasonOf(outcome);
  const named = { toolId, ...(toolTitle !== undefined && { toolTitle }), toolVersion };
  return { reason, runId, invocationId, ...named, owner, requestedBy, until };
}

function reasonOf({ undo, mismatch }: AwaitedOutcome): EscalationReason {
  if (undo) return "undo_failed";
  return mismatch ? "state_mismatch" : "unknown_outcome";
}

/** Reads how a report or a decision settled a call; undefined for entries about anything else. */
export function settlementOf({
  action,
  decision,
  escalation,
  actorId,
  at,
}: AuditEntry): Settlement | undefined {
  const isReport = action === "outcome.resolved" || action === "verification.reviewed";
  const isUndone = action === "undo.ended" && decision !== "failed";
  const isDecided = action === "approval.closed" && escalation !== undefined;
  if (!isReport && !isUndone && !isDecided) return undefined;
  return { as: decision ?? "reviewed", by: actorId, atMs: Date.parse(at) };
}
