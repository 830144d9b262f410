import type { ActorId } from "../identity/ids.ts";
import { assignPeople } from "./assign-people.ts";
import { refusalsOf, voterOf, type RequestedApproval, type VoteRefusal } from "./check-vote.ts";
import type { ApprovalRecord, ApprovalVote } from "./record.ts";
import { RUN_POLICIES, type RunPolicy } from "./requirement.ts";

/**
 * Adds a vote to a pending approval. Each person has one vote, and the last one counts. One
 * rejection ends the approval; so does the vote that meets every requirement.
 * Contract: pure.
 */
export function takeVote(record: ApprovalRecord, vote: ApprovalVote): ApprovalRecord {
  const votes = [...withoutVoter(record, vote.approverId), vote];
  const status = statusAfter(record, votes);
  const closed = status === "pending" ? {} : { closedAtMs: vote.atMs };
  return { ...record, votes, status, ...closed };
}

/** Tells whether people were asked: no consent that lasts gave every vote. Contract: pure. */
export function wasAsked({ status, votes }: Pick<ApprovalRecord, "status" | "votes">): boolean {
  return status === "pending" || votes.every(({ consentId }) => consentId === undefined);
}

/**
 * Tells whether a requirement can be met by nobody: the call moves more than every role may
 * approve, or a field of `approverIsNot` cannot be read. Contract: pure.
 */
export function canNobodyApprove({
  requirements,
  named,
}: Pick<ApprovalRecord, "requirements" | "named">): boolean {
  return requirements.some(
    ({ withinLimit, approverIsNot = [] }) =>
      withinLimit?.length === 0 || approverIsNot.some((pointer) => !named?.[pointer]),
  );
}

/**
 * Tells why an approval would change nothing; undefined when it brings the call nearer. Contract:
 * pure; the person may vote, see `checkVote`.
 */
export function findUseless(
  record: RequestedApproval,
  vote: ApprovalVote,
): VoteRefusal | undefined {
  const others = withoutVoter(record, vote.approverId);
  const isUseful = countAssigned(record, [...others, vote]) > countAssigned(record, others);
  if (isUseful) return undefined;
  const who = { actorId: vote.approverId, roles: vote.roles };
  const isReasonMissing = refusalsOf(record, who, vote.reason).includes("reason_missing");
  return isReasonMissing ? "reason_missing" : "not_needed";
}

/**
 * Counts for each requirement the people who fill it under one policy. Each person counts for one
 * requirement, and people are assigned so that as many as possible count.
 */
function assignUnder(
  record: RequestedApproval,
  votes: readonly ApprovalVote[],
  policy: RunPolicy,
): readonly number[] {
  const places = record.requirements.map((requirement) =>
    (requirement.policy ?? policy) === policy ? requirement.required : 0,
  );
  const people = Map.groupBy(votes, ({ approverId }) => voterOf(record, approverId));
  const fits = [...people.values()].map((own) =>
    own.flatMap(({ approverId: actorId, roles, reason }) =>
      refusalsOf(record, { actorId, roles }, reason).flatMap((refusal, at) =>
        refusal === undefined ? [at] : [],
      ),
    ),
  );
  return assignPeople(places, fits);
}

/** Counts for each requirement the people who fill it, under both policies. Contract: pure. */
export function countPeople(
  record: RequestedApproval,
  votes: readonly ApprovalVote[] = record.votes,
): readonly number[] {
  const approving = votes.filter(({ decision }) => decision === "approve");
  const [pinned = [], current = []] = RUN_POLICIES.map((policy) =>
    assignUnder(record, approving, policy),
  );
  return record.requirements.map(({ policy }, at) => {
    const counts = { pinned: pinned[at] ?? 0, current: current[at] ?? 0 };
    return policy ? counts[policy] : Math.min(counts.pinned, counts.current);
  });
}

function countAssigned(record: RequestedApproval, votes: readonly ApprovalVote[]): number {
  return RUN_POLICIES.flatMap((policy) => assignUnder(record, votes, policy)).reduce(
    (sum, count) => sum + count,
    0,
  );
}

/** Tells whether votes that approve meet every requirement. Contract: pure. */
export function isMet(record: RequestedApproval, votes: readonly ApprovalVote[]): boolean {
  const counts = countPeople(record, votes);
  return record.requirements.every(({ required }, at) => (counts[at] ?? 0) >= required);
}

function withoutVoter(record: RequestedApproval, id: ActorId): readonly ApprovalVote[] {
  const voter = voterOf(record, id);
  return record.votes.filter(({ approverId }) => voterOf(record, approverId) !== voter);
}

function statusAfter(
  record: RequestedApproval,
  votes: readonly ApprovalVote[],
): "pending" | "approved" | "rejected" {
  if (votes.some(({ decision }) => decision === "reject")) return "rejected";
  return isMet(record, votes) ? "approved" : "pending";
}
