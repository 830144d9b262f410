import type { ApprovalDesk, ApprovalPlaces } from "../../capabilities/approval.ts";
import { approvalIdOf } from "../../protocol/approval/id.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { Replay, RunEvidence } from "./evidence.ts";

/**
 * Replays what people decided. The desk knows each decision from the beginning, so nothing waits.
 * The gates verify the recorded votes, terms and packets again.
 */
export function replayApprovals({ evidence, markNotReplayable }: Replay): ApprovalDesk {
  const { approvals = [], claim, invocations } = evidence;
  const used = new Set<string>();
  const refuseNew = (): never => {
    const refused = invocations.some(({ end }) =>
      LIMIT_CODES.has(end?.observation.result_payload.errors[0]?.code ?? ""),
    );
    // No record holds how many approvals were open in the tenant.
    if (refused) markNotReplayable("people");
    throw new Error("the replay requests an approval, and the run did not");
  };
  return {
    newest(invocation) {
      const found = approvals.find((record) => record.invocation === invocation);
      return found && (used.has(found.id) ? found : beforeUse(found));
    },
    raises: () => [],
    wasRejected: ({ toolId, payloadHash }) =>
      approvals.some(
        (record) =>
          record.status === "rejected" &&
          record.toolId === toolId &&
          record.payloadHash === payloadHash,
      ),
    countOpen: () => 0,
    countAsked: () => 0,
    nextId: (invocation) => approvalIdOf(claim.runId, invocation, 1),
    ask: refuseNew,
    withdraw: () => {},
    consume: (id) => void used.add(id),
    takeAnswer: () => {},
  };
}

/** Has room for every request: the desk itself refuses those that the run did not make. */
export const REPLAY_PLACES: ApprovalPlaces = { take: () => Promise.resolve("taken") };

/** Codes of calls about which people were not asked, because too many approvals were open. */
const LIMIT_CODES: ReadonlySet<string> = new Set([
  "too_many_approvals",
  "too_many_approvals_of_actor",
  "too_many_approvals_of_tenant",
  "approval_requests_exhausted",
  "approvals_unavailable",
]);

/** The call of the replay has not used the approval yet. */
function beforeUse({ consumedAtMs: _used, ...record }: ApprovalRecord): ApprovalRecord {
  return record;
}

/**
 * Tells whether every decision of people is one vote on one request: approved, rejected or expired
 * under the policy of the run. Edits, answers, raises, consents that last, sagas and repeated
 * requests are not replayed.
 */
export function areVotesAlone({
  approvals = [],
  invocations,
  policy,
}: Pick<RunEvidence, "approvals" | "invocations" | "policy">): boolean {
  if (invocations.some(({ saga }) => saga !== undefined)) return approvals.length === 0;
  return approvals.every(
    ({ generation, asks, edit, status, votes, pin }) =>
      generation === 1 &&
      !asks &&
      !edit &&
      REPLAYED.has(status) &&
      pin.hash === policy.pin?.hash &&
      votes.every(({ lasting, consentId }) => !lasting && consentId === undefined),
  );
}

const REPLAYED: ReadonlySet<ApprovalRecord["status"]> = new Set([
  "approved",
  "rejected",
  "expired",
]);
