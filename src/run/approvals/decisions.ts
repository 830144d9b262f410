import { failCall } from "../../protocol/outcome/failures.ts";
import type { ApprovalSigner } from "../../capabilities/approval.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { PolicyStore } from "../../capabilities/policy.ts";
import type { ApprovalAnswer, ApprovalAddress, DecisionAnswer } from "../../capabilities/run.ts";
import type { ApprovalDecision } from "../../protocol/approval/decision.ts";
import type { ToolSourcePort } from "../../capabilities/tool.ts";
import { ANY_APPROVAL, maySee } from "./may-see.ts";
import { formatReason } from "./find-impossible.ts";
import { refuseArguments, refuseUnread, whyRefused } from "./refused-decision.ts";
import { reviewAnswer } from "./answer.ts";
import { reviewEdit, type ReviewedEdit } from "./edit.ts";
import type { ReviewedCall, ReviewPorts } from "./open-review.ts";
import { offerTo, readVote } from "./read-vote.ts";
import { reviewTerms, type TermsReview } from "./terms.ts";
import { asksAnswer } from "../../protocol/approval/question.ts";
import type { ApprovalEdit, ApprovalRecord, ApprovalVote } from "../../protocol/approval/record.ts";
import { approvalTokenOf } from "../../protocol/approval/token.ts";
import { viewApproval, type ApprovalView } from "../../protocol/approval/view.ts";
import { checkVote, isRepeated, type VoteRefusal } from "../../protocol/approval/check-vote.ts";
import { findUseless } from "../../protocol/approval/count-people.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import { historyShown } from "../../protocol/run/history-shown.ts";
import type { RunFacts, StopReason } from "../../protocol/run/facts.ts";
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
    readonly broker: ReviewPorts["broker"];
    readonly fingerprints: ReviewPorts["fingerprints"];
    readonly modelOf: ReviewPorts["modelOf"];
    readonly conversationOf?: ReviewPorts["conversationOf"];
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
    progress(): { readonly facts: Partial<Pick<RunFacts, "pin" | "summary">> };
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
   * terms have changed, or whose call cannot succeed any more, is closed, and the run continues.
   */
  async reviewAndShow(address: ApprovalAddress): Promise<ApprovalAnswer> {
    this.#ports.expire();
    const shown = this.#find(address);
    if (shown && this.#isOpen(shown)) await this.#compareTerms(shown);
    const record = this.#find(address);
    if (!record) return { kind: "unknown_approval" };
    const mayNot = record.status === "pending" ? this.#whyNot(record, address) : "closed";
    const lasting = mayNot ? undefined : offerTo(record, address);
    return {
      kind: "approval",
      approval: this.#view(record),
      ...(mayNot && { mayNot }),
      ...(lasting && { lasting }),
    };
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
    const { clock } = this.#ports;
    const stored = this.#stored(address);
    const vote = await readVote({ address, decision }, stored, clock.nowMs());
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
    if (terms.kind !== "same") return this.#closed(address);
    if (asksAnswer(record.asks) || decision.decision === "answer") {
      return this.#answer(proposed, record);
    }
    const { termsHash, pin } = terms;
    const approvable = { ...record, termsHash, pin };
    if (record.asks && decision.arguments) return refuseArguments(NO_EDIT.failure);
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

  /** Answers the question of a request. */
  async #answer(proposed: ProposedVote, record: ApprovalRecord): Promise<DecisionAnswer> {
    const { answer } = proposed.decision;
    if (!asksAnswer(record.asks)) return refuseArguments(NO_QUESTION.failure);
    if (!answer) return refuseArguments(NO_ANSWER.failure);
    const reviewed = await reviewAnswer(this.#reviewPorts(), this.#reviewed(record), answer);
    const still = this.#findOpen(proposed);
    if (still.kind !== "open") return still;
    if (!reviewed.ok) return refuseArguments(reviewed.failure);
    const { payloadHash, ...given } = reviewed.value;
    const edit = this.#editOf(still.record, proposed.vote, payloadHash);
    const answered = this.#run.approvals.answer(still.record, edit, given);
    this.#ports.resume();
    return { kind: "decided", approval: this.#view(answered) };
  }

  /** Finds the open approval of a decision, or answers what no review can change. */
  #findOpen({
    address,
    decision: { isBulk, lasting },
    vote,
  }: ProposedVote): { readonly kind: "open"; readonly record: ApprovalRecord } | DecisionAnswer {
    this.#ports.expire();
    const record = this.#find(address);
    if (!record) return { kind: "unknown_approval" };
    const allowsBulk = record.requirements.every((requirement) => requirement.isBulk);
    if (isBulk && !allowsBulk) return { kind: "not_allowed", why: "not_bulk" };
    if (isRepeated(record, vote)) return { kind: "decided", approval: this.#view(record) };
    if (lasting && !vote.lasting) return { kind: "not_allowed", why: "lasting_not_offered" };
    const why = checkVote(record, address.principal, vote);
    if (why) return { kind: "not_allowed", why };
    if (!this.#isOpen(record)) return { kind: "closed", approval: this.#view(record) };
    const useless = vote.decision === "approve" && findUseless(record, vote);
    return useless ? { kind: "not_allowed", why: useless } : { kind: "open", record };
  }

  /**
   * Compares the terms of an open approval with those that hold now. An approval whose terms have
   * changed is closed at once, and the run requests a new one. One whose call cannot succeed any
   * more is closed too, and the run goes on with the reason.
   */
  async #compareTerms(record: ApprovalRecord): Promise<TermsReview> {
    const compared = await reviewTerms(this.#reviewPorts(), this.#reviewed(record));
    const now = this.#run.approvals.find(record.invocation, record.generation);
    const atMs = this.#ports.clock.nowMs();
    if (!now || !this.#isOpen(now)) return compared;
    if (compared.kind === "changed") this.#run.approvals.closeOutdated(now, atMs);
    else if (compared.kind === "impossible") {
      this.#run.approvals.closeImpossible(now, atMs, formatReason(compared.failure));
    } else return compared;
    this.#ports.resume();
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
    const { facts } = store.progress();
    return {
      ...composed,
      ledger: ledgerOf(claim.principal.tenantId),
      clock: this.#ports.clock,
      runId: store.identity().runId,
      claim,
      history: historyShown(claim, facts),
      pin: facts.pin,
      raises: () => this.#run.approvals.raises(),
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
    const edit = this.#editOf(record, vote, payloadHash);
    const edited = this.#run.approvals.edit(record, edit, argumentsText);
    this.#ports.resume();
    return { kind: "decided", approval: this.#view(edited) };
  }

  #editOf(record: ApprovalRecord, vote: ApprovalVote, payloadHash: string): ApprovalEdit {
    const { argumentsText: replacedText } = this.#reviewed(record).call;
    return { payloadHash, replacedText, vote };
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

  #view(record: ApprovalRecord): ApprovalView {
    return viewApproval(this.#run.store.identity().runId, record);
  }
}

const NO_QUESTION = failCall("no_question");
const NO_ANSWER = failCall("no_answer_given");
const NO_EDIT = failCall("raise_without_arguments");
