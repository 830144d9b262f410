import {
  checkVote,
  isSamePerson,
  requestersOf,
  type VoteRefusal,
} from "../../protocol/approval/check-vote.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import {
  isDelegate,
  personOf,
  seesAll,
  type Principal,
} from "../../protocol/identity/principal.ts";

/** Tells who may approve at all: a vote that gives the reason which some requirements need. */
export const ANY_APPROVAL = { decision: "approve", reason: "any" } as const;

/** A person who has the role may read why they cannot approve this call. */
const SEEN: ReadonlySet<VoteRefusal | undefined> = new Set([
  undefined,
  "named_in_call",
  "over_limit",
]);

/**
 * Tells whether a caller may see an approval: requesters, people who may decide or did, and callers
 * who see all runs. An agent that acts for a person sees the approvals of the runs that it started
 * for this person.
 */
export function maySee(record: ApprovalRecord, principal: Principal): boolean {
  if (seesAll(principal)) return true;
  const { actorId } = principal;
  if (isDelegate(principal)) {
    return record.actorId === actorId && record.requester === personOf(principal);
  }
  return (
    requestersOf(record).includes(actorId) ||
    record.votes.some(({ approverId }) => isSamePerson(approverId, actorId)) ||
    SEEN.has(checkVote(record, principal, ANY_APPROVAL))
  );
}
