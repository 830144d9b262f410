import type { ApprovalRecord, ApprovalVote } from "./record.ts";
import type { ActorId } from "../identity/ids.ts";
import { isDelegate } from "../identity/principal.ts";
import { isNamed } from "./named-people.ts";

/** The person who votes, or wants to vote. */
export interface Voter {
  readonly actorId: ActorId;
  /** Present when the actor acts for somebody else. Such an actor must not vote. */
  readonly subjectId?: ActorId | undefined;
  readonly roles: readonly string[];
}

/** Why a vote is refused. Of several rules, the reason counts that comes last here. */
const VOTE_REFUSALS = [
  /** The requester must not approve this call. */
  "own_request",
  /** Only the requester may approve this call. */
  "not_the_requester",
  "role_missing",
  /** A field of the call names the person, or nobody that can be read. */
  "named_in_call",
  /** The call moves more money than the person's roles may approve. */
  "over_limit",
  "reason_missing",
] as const;
export type VoteRefusal =
  | (typeof VOTE_REFUSALS)[number]
  /** Programs and agents must not vote, and nobody votes for somebody else. */
  | "not_a_person"
  /** Every requirement that the person could fill has enough people. */
  | "not_needed";

type Requesters = Pick<ApprovalRecord, "requester" | "actorId" | "minterId">;
export type RequestedApproval = Requesters &
  Pick<ApprovalRecord, "requirements" | "votes" | "named">;
type VoteContent = Pick<ApprovalVote, "decision" | "reason">;

/**
 * Tells why a person must not vote this way; undefined when they may: to approve, a person must be
 * able to fill one of the requirements. The requester may always reject their own request. A person
 * who has voted may always reject, whatever roles they have now.
 * Contract: pure. It runs when a person votes, and again for each vote when the call uses the
 * approval.
 */
export function checkVote(
  record: RequestedApproval,
  who: Voter,
  { decision, reason }: VoteContent,
): VoteRefusal | undefined {
  if (!actsInOwnName(who)) return "not_a_person";
  const isRequester = requestersOf(record).includes(who.actorId);
  const hasVoted = record.votes.some(({ approverId }) => isSamePerson(approverId, who.actorId));
  if (decision === "reject" && (isRequester || hasVoted)) return undefined;
  const refusals = refusalsOf(record, who, reason);
  return refusals.includes(undefined) ? undefined : lastOf(refusals);
}

/** Tells for each requirement why a person cannot fill it; undefined where they can. */
export function refusalsOf(
  record: RequestedApproval,
  { actorId, roles: held }: Voter,
  reason: string | undefined,
): readonly (VoteRefusal | undefined)[] {
  const isAlike = requestersOf(record).some((id) => isSamePerson(id, actorId));
  const isReasoned = reason !== undefined && reason.trim() !== "";
  const hasOne = (roles: readonly string[]): boolean => roles.some((role) => held.includes(role));
  return record.requirements.map((requirement) => {
    const { roles, withinLimit, approverIsNot = [] } = requirement;
    if (requirement.excludesRequester && isAlike) return "own_request";
    if (requirement.onlyRequester && actorId !== record.requester) return "not_the_requester";
    if (roles.length > 0 && !hasOne(roles)) return "role_missing";
    if (isNamed(record.named, approverIsNot, actorId)) return "named_in_call";
    if (withinLimit && !hasOne(withinLimit)) return "over_limit";
    return requirement.needsReason && !isReasoned ? "reason_missing" : undefined;
  });
}

function lastOf(refusals: readonly (VoteRefusal | undefined)[]): VoteRefusal {
  return VOTE_REFUSALS.findLast((refusal) => refusals.includes(refusal)) ?? "role_missing";
}

/**
 * Lists everybody who counts as the requester of a call.
 * Threat: the minter of an embed token can start runs with the token, and then approve their calls.
 */
export function requestersOf({ requester, actorId, minterId }: Requesters): readonly ActorId[] {
  return minterId === undefined ? [requester, actorId] : [requester, actorId, minterId];
}

/** Tells whether an actor may vote at all: a person who does not act for somebody else. */
export function actsInOwnName(who: Omit<Voter, "roles">): boolean {
  return who.actorId.startsWith("user:") && !isDelegate(who);
}

/**
 * Tells whether two ids may belong to one person, where distinct people are needed.
 * Threat: two token issuers write the id of one person in lower case and in upper case.
 */
export function isSamePerson(a: ActorId, b: ActorId): boolean {
  return foldPerson(a) === foldPerson(b);
}

/**
 * Tells whether a person has made this decision about this approval before. Arguments that the
 * person sent along are part of the decision. An edit is stored beside the votes, because it closes
 * the approval and counts for the next one.
 * Contract: pure. It asks nothing about the present, so that a repeated request gets its first
 * answer when the call has begun, the approval is closed or the person has lost a role.
 */
export function isRepeated(
  { votes, edit }: Pick<ApprovalRecord, "votes" | "edit">,
  { approverId, decision, argumentsHash }: ApprovalVote,
): boolean {
  const isTheirs = (vote: ApprovalVote): boolean =>
    isSamePerson(vote.approverId, approverId) && vote.decision === decision;
  const isSame = (vote: ApprovalVote): boolean =>
    isTheirs(vote) && vote.argumentsHash === argumentsHash;
  if (argumentsHash === undefined) return votes.some(isTheirs);
  return votes.some(isSame) || (edit !== undefined && isSame(edit.vote));
}

function foldPerson(id: ActorId): string {
  return id.toLowerCase();
}

/**
 * Names a voter, so that all ids that may belong to one person get one name. The minter of the
 * run's embed token can vote with that token as the requester, so both are one voter.
 */
export function voterOf({ requester, minterId }: Requesters, id: ActorId): string {
  const isMinter = minterId !== undefined && isSamePerson(minterId, id);
  return foldPerson(isMinter ? requester : id);
}
