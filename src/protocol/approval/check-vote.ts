import type { ApprovalRecord, ApprovalVote } from "./record.ts";
import type { ActorId } from "../identity/ids.ts";

/** The person who votes, or wants to vote. */
export interface Voter {
  readonly actorId: ActorId;
  /** Present when the actor acts for somebody else. Such an actor must not vote. */
  readonly subjectId?: ActorId | undefined;
  readonly roles: readonly string[];
}

/** Why a vote is refused. */
export type VoteRefusal =
  /** Programs and agents must not vote, and nobody votes for somebody else. */
  | "not_a_person"
  /** The requester must not approve this call. */
  | "own_request"
  /** Only the requester may approve this call. */
  | "not_the_requester"
  | "role_missing"
  | "reason_missing";

type RequestedApproval = Pick<ApprovalRecord, "requester" | "actorId" | "requirement">;
type VoteContent = Pick<ApprovalVote, "decision" | "reason">;

/**
 * Tells why a person must not vote this way; undefined when they may. The requester may always
 * reject their own request.
 * Contract: pure. It runs when a person votes, and again for each vote when the call uses the
 * approval.
 */
export function checkVote(
  { requester, actorId, requirement }: RequestedApproval,
  who: Voter,
  { decision, reason }: VoteContent,
): VoteRefusal | undefined {
  if (!actsInOwnName(who)) return "not_a_person";
  const isRequester = who.actorId === requester || who.actorId === actorId;
  if (decision === "reject" && isRequester) return undefined;
  const isAlike = [requester, actorId].some((id) => isSamePerson(id, who.actorId));
  if (requirement.excludesRequester && isAlike) return "own_request";
  if (requirement.onlyRequester && who.actorId !== requester) return "not_the_requester";
  const { roles } = requirement;
  if (roles.length > 0 && !roles.some((role) => who.roles.includes(role))) return "role_missing";
  const isReasoned = reason !== undefined && reason.trim() !== "";
  return requirement.needsReason && !isReasoned ? "reason_missing" : undefined;
}

/** Tells whether an actor may vote at all: a person who does not act for somebody else. */
export function actsInOwnName({ actorId, subjectId }: Omit<Voter, "roles">): boolean {
  const isActing = subjectId !== undefined && subjectId !== actorId;
  return actorId.startsWith("user:") && !isActing;
}

/**
 * Tells whether two ids may belong to one person, where distinct people are needed.
 * Threat: two token issuers write the id of one person in lower case and in upper case.
 */
export function isSamePerson(a: ActorId, b: ActorId): boolean {
  return foldPerson(a) === foldPerson(b);
}

/** Folds an id, so that all spellings that may belong to one person are equal. */
export function foldPerson(id: ActorId): string {
  return id.toLowerCase();
}

/**
 * Adds a vote to a pending approval. Each person has one vote, and the last one counts. One
 * rejection ends the approval; so does the vote that reaches the required number.
 * Contract: pure.
 */
export function takeVote(record: ApprovalRecord, vote: ApprovalVote): ApprovalRecord {
  const others = record.votes.filter(
    ({ approverId }) => !isSamePerson(approverId, vote.approverId),
  );
  const votes = [...others, vote];
  const status = statusAfter(votes, record.requirement.required);
  const closed = status === "pending" ? {} : { closedAtMs: vote.atMs };
  return { ...record, votes, status, ...closed };
}

function statusAfter(
  votes: readonly ApprovalVote[],
  required: number,
): "pending" | "approved" | "rejected" {
  if (votes.some(({ decision }) => decision === "reject")) return "rejected";
  return votes.length >= required ? "approved" : "pending";
}
