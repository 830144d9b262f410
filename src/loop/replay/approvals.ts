import type { ApprovalDesk, ApprovalPlaces, PlaceAnswer } from "../../capabilities/approval.ts";
import { approvalIdOf, readApprovalId } from "../../protocol/approval/id.ts";
import { toAskedRaise, type ApprovalRecord } from "../../protocol/approval/record.ts";
import { codeOf } from "./evidence.ts";
import type { Replay } from "./replay.ts";

/**
 * Replays what people decided. The gates verify the recorded votes, terms and packets again. No
 * request is made: the replay finds those of the run.
 */
export function replayApprovals({ evidence, people, markNotReplayable }: Replay): ApprovalDesk {
  const { approvals = [], claim, invocations } = evidence;
  const used = new Set<string>();
  const isRefusedFor = (number: number, code: string): boolean =>
    codeOf(invocations[number - 1]) === code;
  return {
    newest(invocation) {
      const found = people.newest(invocation);
      return found && (used.has(found.id) ? found : beforeUse(found));
    },
    raises: () => approvals.flatMap(toAskedRaise),
    wasRejected: ({ toolId, payloadHash }) =>
      approvals.some(
        ({ asks, status, ...record }) =>
          status === "rejected" &&
          asks !== "raise" &&
          record.toolId === toolId &&
          record.payloadHash === payloadHash,
      ),
    countOpen: (number) => (isRefusedFor(number, "too_many_approvals") ? FULL : 0),
    countAsked: (number) => (isRefusedFor(number, "approval_requests_exhausted") ? FULL : 0),
    nextId: (invocation) => approvalIdOf(claim.runId, invocation, 1),
    ask({ asks }) {
      // A call that gave its part back made room, at a moment that no record holds.
      if (asks === "raise") markNotReplayable("unclear");
      throw new Error("the replay requests an approval, and the run did not");
    },
    withdraw: () => {},
    consume: (id) => void used.add(id),
    takeAnswer: () => {},
  };
}

const FULL = Number.POSITIVE_INFINITY;

/** Replays how many approvals waited in the tenant: only a call that was refused says it. */
export function replayPlaces({ evidence }: Replay): ApprovalPlaces {
  return {
    take({ approvalId }) {
      const { invocation = 0 } = readApprovalId(approvalId) ?? {};
      const code = codeOf(evidence.invocations[invocation - 1]) ?? "";
      return Promise.resolve(NO_PLACE[code] ?? "taken");
    },
  };
}

const NO_PLACE: Readonly<Record<string, PlaceAnswer>> = {
  too_many_approvals_of_actor: "actor_full",
  too_many_approvals_of_tenant: "tenant_full",
  approvals_unavailable: "unavailable",
};

/** The call of the replay has not used the approval yet. */
function beforeUse({ consumedAtMs: _used, ...record }: ApprovalRecord): ApprovalRecord {
  return record;
}
