import type { ApprovalRecord, ApprovalVote } from "./record.ts";
import type { ActorId } from "../identity/ids.ts";

/** Whoever decides, or would. */
export interface Voter {
  readonly actorId: ActorId;
  /** Present when somebody acts for them, who then decides nothing. */
  readonly subjectId?: ActorId | undefined;
  readonly roles: readonly string[];
}

/** Why somebody may not decide. */
export type VoteRefusal =
  /** Programs and agents do not decide, and nobody decides for somebody else. */
  | "not_a_person"
  /** Whoever asked may not approve it. */
  | "own_request"
  /** Only whoever asked may approve it. */
  | "not_the_requester"
  | "role_missing"
  | "reason_missing";

type Asked = Pick<ApprovalRecord, "requester" | "actorId" | "requirement">;
type Word = Pick<ApprovalVote, "decision" | "reason">;

/**
 * Tells why somebody may not say this to a question; undefined when they may. Whoever asked may always
 * take it back.
 * Contract: pure; asked when somebody decides, and again of each approval when the call takes it.
 */
export function checkVote(
  { requester, actorId, requirement }: Asked,
  who: Voter,
  { decision, reason }: Word,
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

/** Tells whether somebody may decide anything at all: a person, who does not act for another one. */
export function actsInOwnName({ actorId, subjectId }: Omit<Voter, "roles">): boolean {
  const isActing = subjectId !== undefined && subjectId !== actorId;
  return actorId.startsWith("user:") && !isActing;
}

/**
 * Tells whether two ids may be one person's, where people have to be different.
 * Threat: two sources of tokens write the id of one person in small letters and in large ones.
 */
export function isSamePerson(a: ActorId, b: ActorId): boolean {
  return foldPerson(a) === foldPerson(b);
}

/** Words an id so that it is equal for all that may be one person's. */
export function foldPerson(id: ActorId): string {
  return id.toLowerCase();
}

/**
 * Adds a vote to an open question. One person has one vote, the last; one rejection decides, and so does
 * the approval that completes the number.
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
