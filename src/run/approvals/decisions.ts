import type { ApprovalSigner } from "../../capabilities/approval.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { PolicyStore } from "../../capabilities/policy.ts";
import type {
  ApprovalAnswer,
  ApprovalAddress,
  ApprovalDecision,
  DecisionAnswer,
} from "../../capabilities/run.ts";
import type { ToolSourcePort } from "../../capabilities/tool.ts";
import { ANY_APPROVAL, maySee } from "./may-see.ts";
import { refuseArguments, refuseUnread, whyRefused } from "./refused-decision.ts";
import { reviewEdit, type ReviewedEdit } from "./edit.ts";
import type { ReviewedCall, ReviewPorts } from "./open-review.ts";
import { reviewTerms, type TermsReview } from "./terms.ts";
import type { ApprovalRecord, ApprovalVote } from "../../protocol/approval/record.ts";
import { approvalTokenOf } from "../../protocol/approval/token.ts";
import { viewApproval, type ApprovalView } from "../../protocol/approval/view.ts";
import { checkVote, isRepeated, type VoteRefusal } from "../../protocol/approval/check-vote.ts";
import { findUseless } from "../../protocol/approval/count-people.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import type { StopReason } from "../../protocol/run/facts.ts";
import type { Run } from "../run.ts";

export interface DecisionPorts {
  readonly clock: Clock;
  /** Builds the dependencies of a decision. Only a decision calls it, so a read stays cheap. */
  readonly compose: () => {
    readonly signer: ApprovalSigner;
    readonly source: ToolSourcePort;
    readonly log: ReviewPorts["log"];
    readonly policies: PolicyStore;
    readonly registry: ReviewPorts["registry"];
    readonly ledgerOf: (tenantId: TenantId) => ReviewPorts["ledger"];
    readonly authorizationOf: ReviewPorts["authorizationOf"];
    readonly modelOf: ReviewPorts["modelOf"];
  };
  /** Closes approvals that have expired. */
  readonly expire: () => void;
  /** Continues a run that waits for the decision. */
  readonly resume: () => void;
}

/** What a decision reads of its run, and where it is stored. */
export interface DecidedRun extends Pick<Run, "approvals"> {
  readonly transcript: Pick<Run["transcript"], "all">;
  readonly invocations: Pick<Run["invocations"], "find" | "all">;
  readonly store: {
    identity(): Pick<ReviewPorts, "runId">;
    claimed(): ReviewPorts["claim"] | undefined;
    progress(): { readonly facts: { readonly pin?: ReviewPorts["pin"] } };
    incarnations(): { readonly stop: StopReason | null };
  };
}

/** A decision of one person, and the vote that it would be. */
interface ProposedVote {
  readonly address: ApprovalAddress;
  readonly decision: ApprovalDecision;
  readonly vote: ApprovalVote;
}

/**
 * Accepts the decisions of people about the approvals of one run.
 * Contract: the check and the write of a decision are one turn of the event loop, after all
 * asynchronous work. So the first legal one of several simultaneous decisions stays.
 */
export class ApprovalDecisions {
  readonly #run: DecidedRun;
  readonly #ports: DecisionPorts;

  constructor(run: DecidedRun, ports: DecisionPorts) {
    this.#run = run;
    this.#ports = ports;
  }

  /**
   * Shows an approval, once its terms are compared with those that hold now. An open approval whose
   * terms have changed is closed, and the run continues to request a new one.
   */
  async reviewAndShow(address: ApprovalAddress): Promise<ApprovalAnswer> {
    this.#ports.expire();
    const shown = this.#find(address);
    if (shown && this.#isOpen(shown)) await this.#compareTerms(shown);
    const record = this.#find(address);
    if (!record) return { kind: "unknown_approval" };
    const mayNot = record.status === "pending" ? this.#whyNot(record, address) : "closed";
    return { kind: "approval", approval: this.#view(record), ...(mayNot && { mayNot }) };
  }

  /** Tells why a person cannot bring an open approval nearer to its end by approving. */
  #whyNot(record: ApprovalRecord, { principal }: ApprovalAddress): VoteRefusal | undefined {
    const { actorId: approverId, roles } = principal;
    const vote = { ...ANY_APPROVAL, approverId, roles, atMs: 0 };
    return checkVote(record, principal, vote) ?? findUseless(record, vote);
  }

  /**
   * Decides an approval. A decision that this person has made before gets its first answer again,
   * whatever happened since; only a new decision on an open approval is checked further. The audit
   * log gets a vote that is refused, also one of a person who may not see the approval.
   */
  async decide(address: ApprovalAddress, decision: ApprovalDecision): Promise<DecisionAnswer> {
    const vote = await this.#voteOf(address, decision);
    const answer = await this.#decide({ address, decision, vote });
    const why = whyRefused(answer);
    const record = why && this.#stored(address);
    if (record) this.#run.approvals.refuse(record, vote, why);
    return answer;
  }

  async #decide(proposed: ProposedVote): Promise<DecisionAnswer> {
    const { address, decision } = proposed;
    const found = this.#findOpen(proposed);
    if (found.kind !== "open") return found;
    const { record } = found;
    if (decision.decision === "reject") return this.#storeVote(proposed);
    const terms = await this.#compareTerms(record);
    if (terms.kind === "unreadable") return refuseUnread(terms.failure);
    if (terms.kind === "changed") return this.#closed(address);
    const { termsHash, pin } = terms;
    const approvable = { ...record, termsHash, pin };
    if (!decision.arguments) return this.#approve(proposed, approvable);
    const reviewed = await this.#review(record, decision.arguments);
    // The approval may have been closed during the review; then nobody can correct the edit.
    const still = this.#findOpen(proposed);
    if (still.kind !== "open") return still;
    if (!reviewed.ok) return refuseArguments(reviewed.failure);
    return reviewed.value.payloadHash === record.payloadHash
      ? this.#approve(proposed, approvable)
      : this.#storeEdit(still.record, proposed.vote, reviewed.value);
  }

  /** Finds the open approval of a decision, or answers what no review can change. */
  #findOpen({
    address,
    decision: { isBulk },
    vote,
  }: ProposedVote): { readonly kind: "open"; readonly record: ApprovalRecord } | DecisionAnswer {
    this.#ports.expire();
    const record = this.#find(address);
    if (!record) return { kind: "unknown_approval" };
    const allowsBulk = record.requirements.every((requirement) => requirement.isBulk);
    if (isBulk && !allowsBulk) return { kind: "not_allowed", why: "not_bulk" };
    if (isRepeated(record, vote)) return { kind: "decided", approval: this.#view(record) };
    const why = checkVote(record, address.principal, vote);
    if (why) return { kind: "not_allowed", why };
    if (!this.#isOpen(record)) return { kind: "closed", approval: this.#view(record) };
    const useless = vote.decision === "approve" && findUseless(record, vote);
    return useless ? { kind: "not_allowed", why: useless } : { kind: "open", record };
  }

  /**
   * Compares the terms of an open approval with those that hold now. An approval whose terms have
   * changed is closed at once, and the run requests a new one.
   */
  async #compareTerms(record: ApprovalRecord): Promise<TermsReview> {
    const compared = await reviewTerms(this.#reviewPorts(), this.#reviewed(record));
    const now = this.#run.approvals.find(record.invocation, record.generation);
    if (compared.kind === "changed" && now && this.#isOpen(now)) {
      this.#run.approvals.closeOutdated(now, this.#ports.clock.nowMs());
      this.#ports.resume();
    }
    return compared;
  }

  #closed(address: ApprovalAddress): DecisionAnswer {
    const record = this.#find(address);
    return record ? { kind: "closed", approval: this.#view(record) } : { kind: "unknown_approval" };
  }

  async #approve(
    proposed: ProposedVote,
    approvable: Parameters<typeof approvalTokenOf>[0],
  ): Promise<DecisionAnswer> {
    const { runId } = this.#run.store.identity();
    const { tenantId } = proposed.address.principal;
    const approved = approvalTokenOf(approvable, proposed.vote, { runId, tenantId });
    const token = await this.#ports.compose().signer.sign(approved);
    return this.#storeVote({ ...proposed, vote: { ...proposed.vote, token } });
  }

  #review(record: ApprovalRecord, edited: JsonObject): ReturnType<typeof reviewEdit> {
    return reviewEdit(this.#reviewPorts(), this.#reviewed(record), edited);
  }

  #reviewed(record: ApprovalRecord): ReviewedCall {
    const call = this.#run.invocations.find(record.invocation);
    if (!call) throw new Error("an approval outlived its call");
    return { call, record };
  }

  #reviewPorts(): ReviewPorts {
    const { store, invocations, transcript } = this.#run;
    const { ledgerOf, ...composed } = this.#ports.compose();
    const claim = store.claimed();
    if (!claim) throw new Error("an approval outlived its run");
    return {
      ...composed,
      ledger: ledgerOf(claim.principal.tenantId),
      clock: this.#ports.clock,
      runId: store.identity().runId,
      claim,
      pin: store.progress().facts.pin,
      invocations: invocations.all(),
      messages: () => transcript.all(),
    };
  }

  #storeVote(proposed: ProposedVote): DecisionAnswer {
    const found = this.#findOpen(proposed);
    if (found.kind !== "open") return found;
    const decided = this.#run.approvals.vote(found.record, proposed.vote);
    if (decided.status !== "pending") this.#ports.resume();
    return { kind: "decided", approval: this.#view(decided) };
  }

  #storeEdit(
    record: ApprovalRecord,
    vote: ApprovalVote,
    { argumentsText, payloadHash }: ReviewedEdit,
  ): DecisionAnswer {
    const { argumentsText: replacedText } = this.#reviewed(record).call;
    const edit = { payloadHash, replacedText, vote };
    const edited = this.#run.approvals.edit(record, edit, argumentsText);
    this.#ports.resume();
    return { kind: "decided", approval: this.#view(edited) };
  }

  /** A run that is stopping makes no more calls. */
  #isOpen({ status }: ApprovalRecord): boolean {
    return status === "pending" && this.#run.store.incarnations().stop === null;
  }

  /** An approval that the caller may not see is unknown to the caller. */
  #find(address: ApprovalAddress): ApprovalRecord | undefined {
    const record = this.#stored(address);
    return record && maySee(record, address.principal) ? record : undefined;
  }

  #stored({ invocation, generation, principal }: ApprovalAddress): ApprovalRecord | undefined {
    const owner = this.#run.store.claimed()?.principal.tenantId;
    if (owner !== principal.tenantId) return undefined;
    return this.#run.approvals.find(invocation, generation);
  }

  async #voteOf(
    { principal }: ApprovalAddress,
    { decision, reason, arguments: sent }: ApprovalDecision,
  ): Promise<ApprovalVote> {
    const { actorId: approverId, roles } = principal;
    const argumentsHash = sent && (await hashOf(sent));
    return {
      approverId,
      roles,
      decision,
      ...(reason !== undefined && { reason }),
      ...(argumentsHash !== undefined && { argumentsHash }),
      atMs: this.#ports.clock.nowMs(),
    };
  }

  #view(record: ApprovalRecord): ApprovalView {
    return viewApproval(this.#run.store.identity().runId, record);
  }
}
