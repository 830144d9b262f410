import type { ApprovalRecord, ApprovalVote } from "../../protocol/approval/record.ts";
import { asksApproval } from "../../protocol/approval/question.ts";
import { describeRaise } from "../../protocol/approval/raise-lines.ts";
import { summarise } from "../../protocol/approval/view.ts";
import type { AuditEntry } from "../../protocol/audit/entry.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { type Actors, actorsOf } from "../../protocol/identity/principal.ts";
import type { StoredRun } from "../stored-run.ts";
import type { RefusalTally } from "../notices/refusal-tally.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import { invocationIdOf } from "../../protocol/invocation/id.ts";

/**
 * Writes the notices of a run about its approvals, for the object of its tenant.
 * Contract: synchronous; a notice commits together with the writes of its caller.
 */
export class ApprovalNotices {
  readonly #outbox: Pick<StoredRun["outbox"], "notify">;
  readonly #runId: RunId;
  readonly #refusals: Pick<RefusalTally, "isRecordedInFull"> | undefined;

  constructor(
    outbox: Pick<StoredRun["outbox"], "notify">,
    runId: RunId,
    refusals?: Pick<RefusalTally, "isRecordedInFull">,
  ) {
    this.#outbox = outbox;
    this.#runId = runId;
    this.#refusals = refusals;
  }

  /** An approval has changed: updates the approval queue. */
  updated(record: ApprovalRecord): void {
    this.#outbox.notify({ type: "approval", approval: summarise(this.#runId, record) });
  }

  requested(record: ApprovalRecord): void {
    const { actorId, requester, minterId, askedAtMs: atMs, requirements, asks, packet } = record;
    const { raise } = packet;
    const subjectId = requester === actorId ? undefined : requester;
    const who = { ...actorsOf({ actorId, subjectId }), ...(minterId && { minterId }) };
    this.#audit(record, {
      action: "approval.requested",
      atMs,
      ...who,
      ...escalationOf(record),
      ...(raise && { reason: describeRaise(raise) }),
      decision:
        asks && !asksApproval(asks) ? asks : requirements.map(({ pattern }) => pattern).join(", "),
    });
  }

  voted(record: ApprovalRecord, vote: ApprovalVote): void {
    const { approverId, decision, reason, consentId, atMs } = vote;
    this.#audit(record, {
      action: "approval.voted",
      atMs,
      actorId: approverId,
      decision,
      ...(reason !== undefined && { reason }),
      ...(consentId !== undefined && { consentId }),
    });
  }

  /** A vote was refused. Repeated ones are counted, and reported when the run waits or ends. */
  refused(record: ApprovalRecord, { approverId, decision, atMs }: ApprovalVote, why: string): void {
    const fact = { action: "approval.refused", atMs, actorId: approverId, decision } as const;
    const entry = this.#entryOf(record, { ...fact, reason: why });
    const isFull = this.#refusals?.isRecordedInFull(entry) ?? true;
    if (isFull) this.#outbox.notify({ type: "audit", entry });
  }

  edited(record: ApprovalRecord, { approverId, reason, atMs }: ApprovalVote): void {
    const why = reason === undefined ? {} : { reason };
    this.#audit(record, { action: "approval.edited", atMs, actorId: approverId, ...why });
  }

  answered(record: ApprovalRecord, { approverId, atMs }: ApprovalVote): void {
    this.#audit(record, { action: "approval.answered", atMs, actorId: approverId });
  }

  /** The approval is closed. */
  closed(record: ApprovalRecord, atMs: number): void {
    const decided = escalationOf(record);
    const by = record.votes.at(-1)?.approverId;
    const who = decided.escalation && by !== undefined ? { actorId: by } : {};
    const { status: decision, withdrawnBecause: reason } = record;
    const closed = {
      action: "approval.closed",
      atMs,
      decision,
      ...(reason && { reason }),
    } as const;
    this.#audit(record, { ...closed, ...decided, ...who });
  }

  /** The call used the approval. */
  consumed(record: ApprovalRecord, atMs: number): void {
    const { consentId } = record.votes.find((vote) => vote.consentId !== undefined) ?? {};
    const by = consentId === undefined ? {} : { consentId };
    this.#audit(record, { action: "approval.consumed", atMs, ...by });
  }

  #audit(record: ApprovalRecord, fact: Fact): void {
    this.#outbox.notify({ type: "audit", entry: this.#entryOf(record, fact) });
  }

  #entryOf(record: ApprovalRecord, { atMs, ...said }: Fact): AuditEntry {
    return {
      ...said,
      at: toIso(atMs),
      runId: this.#runId,
      invocationId: invocationIdOf(record.invocation),
      approvalId: record.id,
      toolId: record.toolId,
      toolVersion: record.toolVersion,
      payloadHash: record.payloadHash,
      policyHash: record.pin.hash,
      policyRevision: record.pin.revision,
    };
  }
}

/** A request for a higher limit of a run waits for people as what a run cannot settle does. */
function escalationOf({
  packet: { raise, owner, actionName },
}: ApprovalRecord): Pick<AuditEntry, "escalation" | "toolOwner" | "toolTitle"> {
  if (raise?.source !== "policy") return {};
  const { toolTitle } = actionName;
  return {
    escalation: "budget_request",
    toolOwner: owner,
    ...(toolTitle !== undefined && { toolTitle }),
  };
}

type Fact = Omit<AuditEntry, "at" | "runId" | "actorId"> &
  Partial<Actors> & { readonly atMs: number };
