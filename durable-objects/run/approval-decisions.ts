import type { ApprovalSigner } from "../../src/capabilities/approval.ts";
import type { Clock } from "../../src/capabilities/system.ts";
import type { PolicyStore } from "../../src/capabilities/policy.ts";
import type {
  ApprovalAnswer,
  ApprovalAddress,
  ApprovalDecision,
  DecisionAnswer,
} from "../../src/capabilities/run.ts";
import type { ToolSourcePort } from "../../src/capabilities/tool.ts";
import { reviewEdit, type ReviewedEdit, type ReviewPorts } from "../../src/loop/review-edit.ts";
import type { ApprovalRecord, ApprovalVote } from "../../src/protocol/approval/record.ts";
import { approvalTokenOf } from "../../src/protocol/approval/token.ts";
import { viewApproval, type ApprovalView } from "../../src/protocol/approval/view.ts";
import { isSamePerson, checkVote } from "../../src/protocol/approval/check-vote.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { personOf, seesAll, type Principal } from "../../src/protocol/identity/principal.ts";
import type { OpenRun } from "./open-run.ts";

export interface DecisionPorts {
  readonly clock: Clock;
  /** Builds the dependencies of a decision. Only a decision calls it, so a read stays cheap. */
  readonly compose: () => {
    readonly signer: ApprovalSigner;
    readonly source: ToolSourcePort;
    readonly policies: PolicyStore;
    readonly authorizationOf: ReviewPorts["authorizationOf"];
  };
  /** Closes approvals that have expired. */
  readonly expire: () => void;
  /** Continues a run that waits for the decision. */
  readonly resume: () => void;
}

/**
 * Accepts the decisions of people about the approvals of one run.
 * Contract: the check and the write of a decision are one turn of the event loop, after all
 * asynchronous work. So the first legal one of several simultaneous decisions stays.
 */
export class ApprovalDecisions {
  readonly #run: OpenRun;
  readonly #ports: DecisionPorts;

  constructor(run: OpenRun, ports: DecisionPorts) {
    this.#run = run;
    this.#ports = ports;
  }

  show(address: ApprovalAddress): ApprovalAnswer {
    this.#ports.expire();
    const record = this.#find(address);
    if (!record) return { kind: "unknown_approval" };
    const mayNot =
      record.status === "pending"
        ? checkVote(record, address.principal, { decision: "approve", reason: "any" })
        : "closed";
    return { kind: "approval", approval: this.#view(record), ...(mayNot && { mayNot }) };
  }

  async decide(address: ApprovalAddress, decision: ApprovalDecision): Promise<DecisionAnswer> {
    this.#ports.expire();
    const record = this.#find(address);
    if (!record) return { kind: "unknown_approval" };
    const why = checkVote(record, address.principal, decision);
    if (why) return { kind: "not_allowed", why };
    if (decision.isBulk && !record.requirement.isBulk)
      return { kind: "not_allowed", why: "not_bulk" };
    if (decision.decision === "reject")
      return this.#storeVote(address, this.#voteOf(address, decision));
    if (!decision.arguments) return this.#approve(address, decision, record);
    const reviewed = await this.#review(record, decision.arguments);
    if (!reviewed.ok) return { kind: "arguments_refused", errors: reviewed.failure.errors };
    const isSame = reviewed.value.payloadHash === record.payloadHash;
    return isSame
      ? this.#approve(address, decision, record)
      : this.#storeEdit(address, this.#voteOf(address, decision), reviewed.value);
  }

  async #approve(
    address: ApprovalAddress,
    decision: ApprovalDecision,
    record: ApprovalRecord,
  ): Promise<DecisionAnswer> {
    const vote = this.#voteOf(address, decision);
    const { runId } = this.#run.store.identity();
    const { tenantId } = address.principal;
    const token = approvalTokenOf(record, vote, { runId, tenantId });
    const signed = await this.#ports.compose().signer.sign(token);
    return this.#storeVote(address, { ...vote, token: signed });
  }

  #review(record: ApprovalRecord, edited: JsonObject): ReturnType<typeof reviewEdit> {
    const { store, invocations } = this.#run;
    const { source, policies, authorizationOf } = this.#ports.compose();
    const claim = store.claimed();
    const call = invocations.find(record.invocation);
    if (!claim || !call) throw new Error("an approval outlived its call");
    const { pin } = store.progress().facts;
    const { clock } = this.#ports;
    const ports = { source, policies, authorizationOf, clock, claim, pin };
    const reviewed = { ...ports, invocations: invocations.all() };
    return reviewEdit(reviewed, { call, record }, edited);
  }

  #storeVote(address: ApprovalAddress, vote: ApprovalVote): DecisionAnswer {
    this.#ports.expire();
    const record = this.#find(address);
    if (!record) return { kind: "unknown_approval" };
    const isRepeated = record.votes.some(
      ({ approverId, decision }) =>
        isSamePerson(approverId, vote.approverId) && decision === vote.decision,
    );
    if (isRepeated) return { kind: "decided", approval: this.#view(record) };
    if (!this.#isOpen(record)) return { kind: "closed", approval: this.#view(record) };
    const decided = this.#run.approvals.vote(record, vote);
    if (decided.status !== "pending") this.#ports.resume();
    return { kind: "decided", approval: this.#view(decided) };
  }

  #storeEdit(
    address: ApprovalAddress,
    vote: ApprovalVote,
    { argumentsText, payloadHash }: ReviewedEdit,
  ): DecisionAnswer {
    this.#ports.expire();
    const record = this.#find(address);
    if (!record) return { kind: "unknown_approval" };
    const { edit } = record;
    if (edit?.payloadHash === payloadHash && edit.vote.approverId === vote.approverId) {
      return { kind: "decided", approval: this.#view(record) };
    }
    if (!this.#isOpen(record)) return { kind: "closed", approval: this.#view(record) };
    const edited = this.#run.approvals.edit(record, { payloadHash, vote }, argumentsText);
    this.#ports.resume();
    return { kind: "decided", approval: this.#view(edited) };
  }

  /** A run that is stopping makes no more calls. */
  #isOpen({ status }: ApprovalRecord): boolean {
    return status === "pending" && this.#run.store.incarnations().stop === null;
  }

  /** An approval that the caller may not see is unknown to the caller. */
  #find({ invocation, generation, principal }: ApprovalAddress): ApprovalRecord | undefined {
    const owner = this.#run.store.claimed()?.principal.tenantId;
    const record = this.#run.approvals.find(invocation, generation);
    return record && owner === principal.tenantId && maySee(record, principal) ? record : undefined;
  }

  #voteOf({ principal }: ApprovalAddress, { decision, reason }: ApprovalDecision): ApprovalVote {
    const { actorId: approverId, roles } = principal;
    const atMs = this.#ports.clock.nowMs();
    return { approverId, roles, decision, ...(reason !== undefined && { reason }), atMs };
  }

  #view(record: ApprovalRecord): ApprovalView {
    return viewApproval(this.#run.store.identity().runId, record);
  }
}

/** True for the requester, for people who may decide or did, and for callers who see all runs. */
function maySee(record: ApprovalRecord, principal: Principal): boolean {
  const { actorId } = principal;
  const isInvolved =
    [record.requester, record.actorId].includes(actorId) ||
    personOf(principal) === record.requester ||
    record.votes.some(({ approverId }) => approverId === actorId);
  const vote = { decision: "approve", reason: "any" } as const;
  return isInvolved || seesAll(principal) || checkVote(record, principal, vote) === undefined;
}
