import type { ApprovalDesk, NewRequest } from "../../capabilities/approval.ts";
import type { RunJournal } from "../../capabilities/run-journal.ts";
import {
  toAskedRaise,
  type ApprovalEdit,
  type ApprovalRecord,
  type ApprovalVote,
  type SupersedeReason,
} from "../../protocol/approval/record.ts";
import type { AskedRaise } from "../../protocol/budget/raise.ts";
import { approvalIdOf, readApprovalId } from "../../protocol/approval/id.ts";
import { formatPacketLines } from "../../protocol/approval/packet-lines.ts";
import { summarise } from "../../protocol/approval/view.ts";
import { takeVote } from "../../protocol/approval/count-people.ts";
import type { ApprovalId, RunId } from "../../protocol/identity/ids.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ApprovalNotices } from "./notices.ts";
import type { RunInvocations } from "../invocations.ts";

/** The approvals of a run as they are stored, with votes and signed tokens. */
export interface ApprovalRecords {
  /** Stores an approval. It replaces an earlier record of the same generation. */
  put(record: ApprovalRecord): void;
  find(invocation: number, generation: number): ApprovalRecord | undefined;
  newest(invocation: number): ApprovalRecord | undefined;
  /** Approvals that are not closed. */
  pending(): readonly ApprovalRecord[];
  hasRejected(payload: Pick<ApprovalRecord, "toolId" | "payloadHash">): boolean;
  /** All of them, closed ones included. */
  all(): readonly ApprovalRecord[];
  /** Counts the other invocations that have an approval, whatever its status. */
  countAsked(exceptInvocation: number): number;
}

interface RunApprovalPorts {
  readonly approvals: ApprovalRecords;
  readonly invocations: Pick<RunInvocations, "answer" | "edit">;
  readonly journal: Pick<RunJournal, "append" | "flush">;
  readonly notices: ApprovalNotices;
  readonly runId: RunId;
}

/** An answer, and the arguments that it completes. */
export interface GivenAnswer {
  readonly argumentsText: string;
  readonly answer: JsonObject;
}

/** A request whose place another one takes. An answer stays one, and so does a granted raise. */
function replacedBy(
  request: Pick<ApprovalRecord, "id" | "askedAtMs" | "changedTerms" | "changedShown">,
  before: ApprovalRecord,
): ApprovalRecord {
  const { id: supersededBy, askedAtMs } = request;
  const isGranted = before.asks === "raise" && before.status === "approved";
  if (isGranted || before.status === "answered") return { ...before, supersededBy };
  return {
    ...before,
    status: "superseded",
    supersededBy,
    supersededBecause: before.supersededBecause ?? becauseOf(request),
    closedAtMs: before.closedAtMs ?? askedAtMs,
  };
}

/**
 * The approvals of a run. The loop requests and consumes approvals; people decide them.
 * Ownership: one per run in memory. The loop and the people change an approval only here.
 * Contract: a change commits together with its event, its notice for the tenant's object, and all
 * earlier events.
 */
export class RunApprovals implements ApprovalDesk {
  readonly #ports: RunApprovalPorts;

  constructor(ports: RunApprovalPorts) {
    this.#ports = ports;
  }

  newest(invocation: number): ApprovalRecord | undefined {
    return this.#ports.approvals.newest(invocation);
  }

  find(invocation: number, generation: number): ApprovalRecord | undefined {
    return this.#ports.approvals.find(invocation, generation);
  }

  all(): readonly ApprovalRecord[] {
    return this.#ports.approvals.all();
  }

  pending(): readonly ApprovalRecord[] {
    return this.#ports.approvals.pending();
  }

  wasRejected(payload: Pick<ApprovalRecord, "toolId" | "payloadHash">): boolean {
    return this.#ports.approvals.hasRejected(payload);
  }

  countAsked(exceptInvocation: number): number {
    return this.#ports.approvals.countAsked(exceptInvocation);
  }

  countOpen(exceptInvocation: number): number {
    return this.pending().filter(({ invocation }) => invocation !== exceptInvocation).length;
  }

  raises(): readonly AskedRaise[] {
    return this.all().flatMap(toAskedRaise);
  }

  nextId(invocation: number): ApprovalId {
    const generation = (this.newest(invocation)?.generation ?? 0) + 1;
    return approvalIdOf(this.#ports.runId, invocation, generation);
  }

  ask({ vote, ...request }: NewRequest): ApprovalRecord {
    const { invocation, part, toolCallId, packet, askedAtMs } = request;
    const { notices } = this.#ports;
    const before = this.newest(invocation);
    const id = this.nextId(invocation);
    const open: ApprovalRecord = {
      ...request,
      id,
      generation: (before?.generation ?? 0) + 1,
      status: "pending",
      votes: [],
    };
    const record = vote ? takeVote(open, vote) : open;
    if (before) {
      const replaced = replacedBy({ ...request, id }, before);
      if (before.status !== replaced.status) notices.closed(replaced, askedAtMs);
      this.#change(replaced);
    }
    notices.requested(open);
    if (vote) notices.voted(open, vote);
    if (record.status !== "pending") notices.closed(record, askedAtMs);
    notices.updated(record);
    const approval = summarise(this.#ports.runId, record);
    this.#ports.approvals.put(record);
    this.#ports.journal.append([
      {
        type: "approval_requested",
        part,
        toolCallId,
        approval,
        packet,
        lines: formatPacketLines(packet, request),
      },
    ]);
    this.#ports.journal.flush();
    return record;
  }

  consume(id: ApprovalId, atMs: number): void {
    const { invocation = 0, generation = 0 } = readApprovalId(id) ?? {};
    const record = this.find(invocation, generation);
    if (record?.status !== "approved") throw new Error(`${id} is not approved`);
    if (record.consumedAtMs !== undefined) return;
    this.#ports.notices.consumed(record, atMs);
    this.#change({ ...record, consumedAtMs: atMs });
  }

  takeAnswer(invocation: number, atMs: number): void {
    const record = this.newest(invocation);
    if (record?.status !== "answered" || record.consumedAtMs !== undefined) return;
    // Readers know the answer already.
    this.#ports.approvals.put({ ...record, consumedAtMs: atMs });
  }

  withdraw(invocation: number, atMs: number): void {
    const record = this.newest(invocation);
    if (record?.status === "pending") this.#close(record, atMs);
  }

  /** Adds the vote of one person to an open approval. */
  vote(record: ApprovalRecord, vote: ApprovalVote): ApprovalRecord {
    const decided = takeVote(record, vote);
    this.#ports.notices.voted(record, vote);
    if (decided.status !== "pending") this.#ports.notices.closed(decided, vote.atMs);
    return this.#change(decided);
  }

  /** Records a vote that does not count. */
  refuse(record: ApprovalRecord, vote: ApprovalVote, why: string): void {
    this.#ports.notices.refused(record, vote, why);
  }

  /** Gives the call other arguments. The approval is closed, and the run requests a new one. */
  edit(record: ApprovalRecord, edit: ApprovalEdit, argumentsText: string): ApprovalRecord {
    this.#ports.invocations.edit(record.invocation, argumentsText);
    const closedAtMs = edit.vote.atMs;
    this.#ports.notices.edited(record, edit.vote);
    const supersededBecause = "arguments_edited";
    return this.#change({ ...record, status: "superseded", supersededBecause, edit, closedAtMs });
  }

  /** Completes the arguments of a call by an answer. The question is closed. */
  answer(record: ApprovalRecord, edit: ApprovalEdit, given: GivenAnswer): ApprovalRecord {
    this.#ports.invocations.answer(record.invocation, given.argumentsText, given.answer);
    this.#ports.notices.answered(record, edit.vote);
    const { answer } = given;
    return this.#change({
      ...record,
      status: "answered",
      edit,
      answer,
      closedAtMs: edit.vote.atMs,
    });
  }

  /** Closes an open approval whose terms do not hold any more. The run requests a new one. */
  closeOutdated(record: ApprovalRecord, closedAtMs: number): void {
    const why = { status: "superseded", supersededBecause: "terms_changed" } as const;
    const closed = { ...record, ...why, closedAtMs };
    this.#ports.notices.closed(closed, closedAtMs);
    this.#change(closed);
  }

  /** Closes an open approval whose call cannot succeed any more. The run goes on without it. */
  closeImpossible(record: ApprovalRecord, atMs: number, withdrawnBecause: string): void {
    this.#close({ ...record, withdrawnBecause }, atMs);
  }

  /** Closes approvals that have expired; tells whether there was one. */
  expire(atMs: number): boolean {
    const late = this.pending().filter(({ expiresAtMs }) => expiresAtMs <= atMs);
    for (const record of late) this.#close(record, atMs);
    return late.length > 0;
  }

  /**
   * Tells whether the newest approval of an invocation is closed, and the call has not used it yet.
   */
  hasClosedApproval(invocation: number): boolean {
    const newest = this.newest(invocation);
    if (!newest || newest.consumedAtMs !== undefined) return false;
    return newest.status !== "pending";
  }

  #close(record: ApprovalRecord, atMs: number): void {
    const status = record.expiresAtMs <= atMs ? "expired" : "withdrawn";
    const closed = { ...record, status, closedAtMs: atMs } as const;
    this.#ports.notices.closed(closed, atMs);
    this.#change(closed);
  }

  #change(record: ApprovalRecord): ApprovalRecord {
    const { part, toolCallId } = record;
    const approval = summarise(this.#ports.runId, record);
    this.#ports.approvals.put(record);
    this.#ports.notices.updated(record);
    this.#ports.journal.append([{ type: "approval_updated", part, toolCallId, approval }]);
    this.#ports.journal.flush();
    return record;
  }
}

/** Why a request takes the place of one that nobody closed. */
function becauseOf({
  changedTerms,
  changedShown,
}: Pick<NewRequest, "changedTerms" | "changedShown">): SupersedeReason {
  if (changedTerms) return "terms_changed";
  return changedShown ? "shown_changed" : "consent_ended";
}
