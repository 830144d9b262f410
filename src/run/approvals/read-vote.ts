import type { ApprovalAddress } from "../../capabilities/run.ts";
import type { ApprovalDecision } from "../../protocol/approval/decision.ts";
import { offerOf } from "../../protocol/approval/consent-offer.ts";
import type { ApprovalRecord, ApprovalVote } from "../../protocol/approval/record.ts";
import { chooseLasting, type LastingOffer } from "../../protocol/consent/lasting.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";

/**
 * Tells what a person may consent to beyond the call: only the person who is asked to consent, and
 * to a call that is complete.
 */
export function offerTo(
  { asks, requester, requirements, bounds }: ApprovalRecord,
  { principal }: ApprovalAddress,
): LastingOffer | undefined {
  const isAsked = principal.actorId === requester && asks === undefined;
  return isAsked ? offerOf(requirements, bounds) : undefined;
}

/** Reads the vote that a decision would be. An answer is one as well, where its request says so. */
export async function readVote(
  { address, decision }: { readonly address: ApprovalAddress; readonly decision: ApprovalDecision },
  record: ApprovalRecord | undefined,
  atMs: number,
): Promise<ApprovalVote> {
  const { actorId: approverId, roles } = address.principal;
  const { reason, arguments: edited, answer: sent = edited, lasting: wish } = decision;
  const argumentsHash = sent && (await hashOf(sent));
  const lasting = wish && record && chooseLasting(wish, offerTo(record, address), atMs);
  return {
    approverId,
    roles,
    decision: decision.decision === "reject" ? "reject" : "approve",
    ...(reason !== undefined && { reason }),
    ...(argumentsHash !== undefined && { argumentsHash }),
    ...(lasting && { lasting }),
    atMs,
  };
}
