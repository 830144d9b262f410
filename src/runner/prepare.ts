import { failCall } from "../protocol/outcome/failures.ts";
import { isUnknownWrite, type InvocationBinding } from "../protocol/invocation/record.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { mutates, type ActiveCall } from "./active-call.ts";
import {
  policyCallOf,
  requireApproval,
  type RequireApprovalPorts,
  type ApprovalSubject,
  type Approved,
} from "./approval/require-approval.ts";
import { consentOfApproval } from "./approval/consents.ts";
import { mayAsk, unansweredIn } from "./approval/unanswered.ts";
import { askRaise } from "./approval/ask-raise.ts";
import { askPerson } from "./approval/ask-person.ts";
import { previewStates } from "./approval/preview-states.ts";
import type { Attempt } from "./attempt.ts";
import { CONSENT_ENDED, reserve, type ReservePorts } from "./budget/reserve.ts";
import type { PreparedCall } from "./execute-call.ts";
import { checkStillValid, type ValidityPorts } from "./gates/check-still-valid.ts";
import { checkStillWanted, type WantedPorts } from "./gates/check-still-wanted.ts";
import { passAll, type GateTrail } from "./gates/gate.ts";
import { checkCeilings } from "./gates/check-ceilings.ts";
import { checkAllowed } from "./gates/check-allowed.ts";
import { obeyNewerPolicy } from "./gates/obey-newer-policy.ts";
import { obeyPolicy, type PolicyPorts } from "./gates/obey-policy.ts";
import { readArguments } from "./gates/read-arguments.ts";
import type { PolicySubject, ValiditySubject } from "./gates/subjects.ts";
import { hasOtherTarget, openAuthority, type AuthorityPorts } from "./authority/open-authority.ts";
import { lazily } from "../protocol/text/lazily.ts";
import type { InvocationLedger } from "./invocation/invocation-ledger.ts";
import type { PinnedTerms, Terms } from "./terms.ts";
import { wasEdited } from "./approval/was-edited.ts";
import { WAITING } from "./waiting.ts";

/** What the gates need from the run. */
export type PreparePorts = WantedPorts &
  PolicyPorts &
  AuthorityPorts &
  ValidityPorts &
  RequireApprovalPorts &
  ReservePorts & { readonly invocations: Pick<InvocationLedger, "bind" | "find"> };

type Refusal = ToolFailure | typeof WAITING;

/**
 * Takes a call through every gate up to its dispatch, in the order of the pipeline (docs/gates.md).
 * Contract: throws only what an author's schema, rule or redaction throws.
 */
export async function prepare(
  ports: PreparePorts,
  call: ActiveCall,
  attempt: Attempt,
): Promise<Result<PreparedCall, Refusal>> {
  const { tool, toolCall, signal, ranWith } = call;
  const { trail } = attempt;
  const terms: Terms = { policy: ports.policy, pin: ports.pin };
  const isStep = toolCall.saga !== undefined;
  const wantedCall = { tool, signal, hasBegun: ranWith !== undefined, isStep };

  const record = ports.invocations.find(call.context);
  const { shownData = [] } = record ?? {};

  const wanted = checkStillWanted(ports, wantedCall, trail);
  if (!wanted.ok) return wanted;

  const allowed = checkAllowed(ports, { terms, tool, shownData }, trail);
  if (!allowed.ok) return allowed;

  const read = await readArguments(tool, toolCall, trail);
  if (!read.ok) return attempt.refuseArguments(read.failure);
  const accepted = attempt.accept(read.value);

  const { context } = call;
  const { args, payloadHash } = accepted;
  if (record && wasEdited(ports, record, payloadHash)) return fail(WAITING);
  const unanswered = record && mayAsk(record) ? unansweredIn(tool, args) : [];
  const policyCall = { terms, tool, args, unanswered, operation: context, shownData };
  const obeyed = await obeyPolicy(ports, policyCall, trail);
  if (!obeyed.ok) return obeyed;

  const { connectionId, workspaceId } = obeyed.value;
  const allowedCall = { tool, context, accepted, connectionId, workspaceId };
  const opened = trail.note("connection", await openAuthority(ports, allowedCall));
  if (!opened.ok) return opened;
  const authority = attempt.open(opened.value);
  const subject: ValiditySubject = { ...wantedCall, accepted, authority };

  const valid = await checkStillValid(ports, subject, trail);
  if (!valid.ok) return valid;

  const states = lazily(() => previewStates(ports, subject));
  const counted = await countPreviewed(ports, { ...obeyed.value, states }, trail);
  if (!counted.ok) return counted;
  const asked = { ...subject, ...counted.value, terms, states };
  const answered = await askPerson(ports, asked, trail);
  if (!answered.ok) return answered;
  const raised = await askRaise(ports, asked, trail);
  if (!raised.ok) return raised;
  const approved = await approveAndReserve(ports, asked, trail);
  if (!approved.ok) return approved;

  const bound = trail.note("idempotency", bind(ports, call, subject));
  if (!bound.ok) return bound;

  return ok({ ...subject, approval: approved.value });
}

/**
 * Counts the amount that the target's state holds, where the contract says so, before people are
 * asked. A write that may have happened keeps what it has reserved: it may have changed that state.
 */
async function countPreviewed(
  ports: Pick<PreparePorts, "budget" | "invocations" | "principal">,
  { states, ...subject }: PolicySubject & Pick<ApprovalSubject, "states">,
  trail: GateTrail,
): Promise<Result<PolicySubject, ToolFailure>> {
  if (typeof subject.tool.amountField !== "object") return ok(subject);
  const record = ports.invocations.find(subject.operation);
  if (record?.amounts && isUnknownWrite(record)) return ok({ ...subject, amounts: record.amounts });
  const previewed = await states();
  return passAll([checkCeilings], { ...subject, previewed }, { ports, trail });
}

/**
 * Requires approval and reserves budgets. When the reservation finds a newer policy, the gates that
 * read policy run again under that policy. Only then does the tenant reserve anything under it. A
 * policy that changes after the reservation applies to the next attempt. Where the consent that
 * answered the call has ended meanwhile, the person is asked.
 */
async function approveAndReserve(
  ports: PolicyPorts & RequireApprovalPorts & ReservePorts,
  subject: ApprovalSubject,
  trail: GateTrail,
): Promise<Approved> {
  const approved = await requireApproval(ports, subject, trail);
  if (!approved.ok) return approved;
  const { terms, tool, amounts, authority } = subject;
  const call = policyCallOf(subject);
  let consents = await consentOfApproval(ports, subject, approved.value);
  const obeyNewTerms = async (newTerms: PinnedTerms): Promise<Approved> => {
    const obeyed = await obeyNewerPolicy(ports, call, { terms: newTerms, trail });
    if (!obeyed.ok) return obeyed;
    const raised = await askRaise(ports, { ...subject, terms: newTerms }, trail);
    if (!raised.ok) return raised;
    const again = await requireApproval(ports, { ...subject, terms: newTerms }, trail);
    if (again.ok) consents = await consentOfApproval(ports, subject, again.value);
    return again;
  };
  const isApproved = approved.value !== null;
  const { context } = authority;
  const asked = { terms, tool, context, amounts, isApproved, obeyNewTerms };
  const reserved = await reserve(ports, { ...asked, consents: () => consents }, trail);
  if (!reserved.ok) {
    if (reserved.failure !== CONSENT_ENDED) return fail(reserved.failure);
    return requireApproval(ports, { ...subject, hasConsentEnded: true }, trail);
  }
  // A newer policy may need another approval than the pinned one, or none.
  return reserved.value === undefined ? approved : ok(reserved.value);
}

/**
 * Binds the operation to its payload. Refuses another attempt whose key the service has forgotten,
 * while an earlier attempt may have happened.
 */
function bind(
  { clock, invocations }: PreparePorts,
  { tool, unknownOutcome, context }: ActiveCall,
  subject: ValiditySubject,
): Result<null, ToolFailure> {
  const { binding, dispatchedAtMs = Infinity } = invocations.find(context) ?? {};
  const isForgotten = clock.nowMs() >= dispatchedAtMs + tool.keyTtlMs;
  if (unknownOutcome && mutates(tool)) {
    if (isForgotten) return KEY_EXPIRED;
    if (hasOtherTarget(binding, subject.authority)) return OTHER_TARGET;
  }
  return invocations.bind(subject.authority.context, bindingOf(subject));
}

const KEY_EXPIRED = failCall("key_expired");

const OTHER_TARGET = failCall("target_changed");

/**
 * Builds what the operation is bound to: the tool's version, the payload and the idempotency key.
 * The ledger then refuses the same operation with another key.
 */
function bindingOf({ tool, accepted, authority }: ValiditySubject): InvocationBinding {
  const { workspaceId } = authority.context;
  const { title } = tool.spec;
  return {
    version: tool.version,
    payloadHash: accepted.payloadHash,
    idempotencyKey: authority.scope.idempotencyKey,
    ...(authority.target !== undefined && { target: authority.target }),
    mutates: mutates(tool),
    dataClass: tool.spec.dataClass,
    owner: tool.owner,
    ...(title !== undefined && { title }),
    ...(workspaceId !== undefined && { workspaceId }),
    shownArgs: accepted.shown,
  };
}
