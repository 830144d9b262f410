import type { ApprovalRecord, ApprovalVote } from "../../src/protocol/approval/record.ts";
import { summarise } from "../../src/protocol/approval/view.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import { type Actors, actorsOf } from "../../src/protocol/identity/principal.ts";
import type { Outbox } from "./outbox.ts";
import { toIso } from "../../src/protocol/text/iso-time.ts";
import { invocationIdOf } from "../../src/protocol/invocation/id.ts";

/**
 * Writes the notices of a run about its approvals, for the object of its tenant.
 * Contract: synchronous; a notice commits together with the writes of its caller.
 */
export class ApprovalNotices {
  readonly #outbox: Pick<Outbox, "notify">;
  readonly #runId: RunId;

  constructor(outbox: Pick<Outbox, "notify">, runId: RunId) {
    this.#outbox = outbox;
    this.#runId = runId;
  }

  /** An approval has changed: updates the approval queue. */
  updated(record: ApprovalRecord): void {
    this.#outbox.notify({ type: "approval", approval: summarise(this.#runId, record) });
  }

  requested(record: ApprovalRecord): void {
    const { actorId, requester, minterId, askedAtMs: atMs, requirement } = record;
    const subjectId = requester === actorId ? undefined : requester;
    const who = { ...actorsOf({ actorId, subjectId }), ...(minterId && { minterId }) };
    this.#audit(record, {
      action: "approval.requested",
      atMs,
      ...who,
      decision: requirement.pattern,
    });
  }

  voted(record: ApprovalRecord, { approverId, decision, reason, atMs }: ApprovalVote): void {
    const why = reason === undefined ? {} : { reason };
    this.#audit(record, { action: "approval.voted", atMs, actorId: approverId, decision, ...why });
  }

  edited(record: ApprovalRecord, { approverId, reason, atMs }: ApprovalVote): void {
    const why = reason === undefined ? {} : { reason };
    this.#audit(record, { action: "approval.edited", atMs, actorId: approverId, ...why });
  }

  /** The approval is closed. */
  closed(record: ApprovalRecord, atMs: number): void {
    this.#audit(record, { action: "approval.closed", atMs, decision: record.status });
  }

  /** The call used the approval. */
  consumed(record: ApprovalRecord, atMs: number): void {
    this.#audit(record, { action: "approval.consumed", atMs });
  }

  #audit(record: ApprovalRecord, fact: Fact): void {
    const { atMs, ...said } = fact;
    const entry: AuditEntry = {
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
    this.#outbox.notify({ type: "audit", entry });
  }
}

type Fact = Pick<AuditEntry, "action" | "decision" | "reason"> &
  Partial<Actors> & { readonly atMs: number };
