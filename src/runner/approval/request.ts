import type { ApprovalDesk, ApprovalSigner, NewRequest } from "../../capabilities/approval.ts";
import type { PacketStep } from "../../protocol/approval/packet.ts";
import type { ApprovalRecord, ApprovalVote } from "../../protocol/approval/record.ts";
import { diffTerms, type ApprovalTerms } from "../../protocol/approval/terms.ts";
import { approvalTokenOf } from "../../protocol/approval/token.ts";
import { personOf, type Principal } from "../../protocol/identity/principal.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, type Result } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import type { ValiditySubject } from "../gates/subjects.ts";
import type { InvocationLedger } from "../invocation-ledger.ts";
import { CANCELLED, failCall } from "../tool-failure.ts";
import { WAITING } from "../waiting.ts";
import { buildPacket, type PacketPorts } from "./build-packet.ts";
import { refuseMore, takePlace, type LimitPorts } from "./limit-requests.ts";
import { verifyApproval } from "./verify.ts";

/** What a request takes of the run. */
export interface RequestPorts extends PacketPorts, LimitPorts {
  readonly approvals: ApprovalDesk;
  readonly approvalSigner: ApprovalSigner;
  readonly invocations: Pick<InvocationLedger, "find">;
  readonly policy: ToolPolicy;
  readonly principal: Principal;
}

/** What is required, and under which policy. */
interface Required {
  readonly terms: ApprovalTerms;
  readonly termsHash: string;
  /** The steps of a saga. */
  readonly planned: readonly PacketStep[] | undefined;
  /** The policy that is current now. */
  readonly pin: PolicyPin;
  /** That policy, and the one that the run pinned. */
  readonly policies: readonly ToolPolicy[];
}

/**
 * Requests approval for a call, and answers `waiting`. An approver's edit carries that approver's
 * own vote over, so the request may be approved at once.
 * Contract: a payload that people rejected in this run is not requested again.
 * Fails: `waiting`; PERMISSION_DENIED; BUDGET_EXHAUSTED where too many approvals of the run, the
 * person or the tenant are open, or the run has requested too many; DEPENDENCY_UNAVAILABLE;
 * UNKNOWN_ERROR for a run that is stopped meanwhile; what `verifyApproval` fails with.
 */
export async function requestApproval(
  ports: RequestPorts,
  subject: ValiditySubject,
  required: Required,
): Promise<Result<ApprovalRecord, ToolFailure | typeof WAITING>> {
  const { approvals, invocations } = ports;
  const { tool, accepted, invocation, signal } = subject;
  const { payloadHash } = accepted;
  const record = invocations.find(invocation.context);
  if (!record) throw new Error("an approval is requested for no admitted invocation");
  const { number } = record;
  if (approvals.wasRejected({ toolId: tool.id, payloadHash })) return REJECTED_BEFORE;
  const refused = refuseMore(ports, record) ?? (await takePlace(ports, number, required.policies));
  if (refused) return refused;
  const request = await buildRequest(ports, subject, { ...required, number });
  const vote = await carryVote(ports, invocation.context.runId, request);
  if (signal.aborted) return CANCELLED;
  // Again: parallel calls may have asked meanwhile. The place of a refused call lapses.
  const refusedNow = refuseMore(ports, record);
  if (refusedNow) return refusedNow;
  const asked = approvals.ask({ ...request, ...(vote && { vote }) });
  return asked.status === "approved" ? verifyApproval(ports, subject, asked) : fail(WAITING);
}

/** A request before any vote. */
type UnvotedRequest = Omit<NewRequest, "vote"> & Pick<Required, "termsHash">;

/** Builds a request. One that replaces another request tells how the terms changed. */
async function buildRequest(
  ports: RequestPorts,
  subject: ValiditySubject,
  { terms, termsHash, pin, planned, number }: Required & { readonly number: number },
): Promise<UnvotedRequest> {
  const { approvals, clock, principal } = ports;
  const { tool, accepted, invocation } = subject;
  const { toolCallId, part } = invocation.context;
  const { payloadHash } = accepted;
  const before = approvals.newest(number);
  const changedTerms = before ? diffTerms(before, terms) : [];
  const isEdited = before?.isEdited === true || before?.edit?.payloadHash === payloadHash;
  const askedAtMs = clock.nowMs();
  const expiresAtMs = askedAtMs + terms.requirement.ttlSeconds * 1_000;
  return {
    invocation: number,
    toolCallId,
    part,
    toolId: tool.id,
    ...terms,
    termsHash,
    ...(changedTerms.length > 0 && { changedTerms }),
    payloadHash,
    pin,
    requester: personOf(principal),
    actorId: principal.actorId,
    ...(principal.embed?.minterId && { minterId: principal.embed.minterId }),
    packet: {
      ...(await buildPacket(ports, subject, expiresAtMs)),
      ...(planned && { steps: planned }),
    },
    askedAtMs,
    expiresAtMs,
    ...(isEdited && { isEdited }),
  };
}

const REJECTED_BEFORE = failCall("PERMISSION_DENIED", {
  code: "approval_rejected",
  message: "a person rejected exactly this call before; it is not requested again",
});

/**
 * An edit drops all earlier votes. Only the editor's own vote is carried over, and only for exactly
 * the arguments and the terms that the editor saw.
 */
async function carryVote(
  { approvals, approvalSigner, principal }: RequestPorts,
  runId: ValiditySubject["invocation"]["context"]["runId"],
  request: UnvotedRequest,
): Promise<ApprovalVote | undefined> {
  const { edit, termsHash } = approvals.newest(request.invocation) ?? {};
  const isTheirs = edit?.payloadHash === request.payloadHash && termsHash === request.termsHash;
  if (!edit || !isTheirs) return undefined;
  const id = approvals.nextId(request.invocation);
  const { tenantId } = principal;
  const token = approvalTokenOf({ ...request, id }, edit.vote, { runId, tenantId });
  return { ...edit.vote, token: await approvalSigner.sign(token) };
}
