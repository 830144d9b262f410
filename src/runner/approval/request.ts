import type { ApprovalRecord, ApprovalVote } from "../../protocol/approval/record.ts";
import type { ApprovalRequirement } from "../../protocol/approval/requirement.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { approvalTokenOf } from "../../protocol/approval/token.ts";
import { isSamePin, type PolicyPin } from "../../protocol/policy/pin.ts";
import { personOf } from "../../protocol/identity/principal.ts";
import { fail, type Result } from "../../protocol/outcome/result.ts";
import type { ActiveCall } from "../active-call.ts";
import { buildPacket } from "./build-packet.ts";
import type { Invocation } from "../invocation.ts";
import { CANCELLED, failCall } from "../tool-failure.ts";
import { verifyApproval } from "./verify.ts";
import { WAITING } from "../waiting.ts";
import type { Accepted } from "../accepted.ts";

/** A call that people are to be asked about. */
interface Asking {
  readonly accepted: Accepted;
  readonly invocation: Invocation;
  readonly requirement: ApprovalRequirement;
  /** The policy that is current now. */
  readonly pin: PolicyPin;
}

/**
 * Puts a call before people, and waits; whoever changed its arguments has approved them.
 * Contract: what they refused in this run they are not asked about again. Fails: `waiting`;
 * PERMISSION_DENIED; UNKNOWN_ERROR for a run that was stopped meanwhile.
 */
export async function requestApproval(
  hand: ActiveCall,
  asking: Asking,
): Promise<Result<ApprovalRecord, ToolFailure | typeof WAITING>> {
  const { ports, tool, context } = hand;
  const { accepted, invocation, requirement, pin } = asking;
  const { payloadHash } = accepted;
  const number = ports.invocations.find(context)?.number;
  if (number === undefined) throw new Error("people are asked about what is not reserved");
  if (ports.approvals.wasRejected({ toolId: tool.id, payloadHash })) return REJECTED_BEFORE;
  const askedAtMs = ports.clock.nowMs();
  const expiresAtMs = askedAtMs + requirement.ttlSeconds * 1_000;
  const packet = await buildPacket(hand, { accepted, invocation, expiresAtMs });
  const question = {
    invocation: number,
    toolCallId: context.toolCallId,
    part: context.part,
    toolId: tool.id,
    toolVersion: tool.version,
    payloadHash,
    pin,
    requester: personOf(ports.principal),
    actorId: ports.principal.actorId,
    requirement,
    packet,
    askedAtMs,
    expiresAtMs,
  };
  const vote = await carriedVote(hand, question);
  if (hand.signal.aborted) return CANCELLED;
  const isEdited = ports.approvals.newest(number)?.edit?.payloadHash === payloadHash;
  const record = ports.approvals.ask({
    ...question,
    ...(isEdited && { isEdited }),
    ...(vote && { vote }),
  });
  return record.status === "approved" ? verifyApproval(hand, record, payloadHash) : fail(WAITING);
}

const REJECTED_BEFORE = failCall("PERMISSION_DENIED", {
  code: "approval_rejected",
  message: "a person has refused exactly this call before; it is not asked again",
});

type Payload = Pick<ApprovalRecord, "invocation" | "payloadHash" | "pin" | "expiresAtMs"> &
  Pick<ApprovalRecord, "toolId" | "toolVersion">;

/** Earlier votes fall with an edit, but for the one of whoever made it, if these are their arguments. */
async function carriedVote(
  { ports, context }: ActiveCall,
  payload: Payload,
): Promise<ApprovalVote | undefined> {
  const previous = ports.approvals.newest(payload.invocation);
  const { edit, pin } = previous ?? {};
  const isTheirs = edit?.payloadHash === payload.payloadHash && pin && isSamePin(pin, payload.pin);
  if (!edit || !isTheirs) return undefined;
  const id = ports.approvals.nextId(payload.invocation);
  const { tenantId } = ports.principal;
  const token = approvalTokenOf({ ...payload, id }, edit.vote, { runId: context.runId, tenantId });
  return { ...edit.vote, token: await ports.approvalSigner.sign(token) };
}
