import { failCall } from "../../protocol/outcome/failures.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { readNamedPeople } from "../../protocol/approval/named-people.ts";
import { requirementsOf } from "../../protocol/policy/decide.ts";
import { isUnknownWrite } from "../../protocol/invocation/record.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { isSamePin } from "../../protocol/policy/pin.ts";
import { readMoved } from "../../protocol/tool/amount-field.ts";
import { cutText } from "../../protocol/text/whole-characters.ts";
import { askedTool, listAsks } from "../flow/asks.ts";
import { checkRoom, type ReservedConsent, type RoomPorts } from "../budget/reserve.ts";
import type { GateTrail } from "../gates/gate.ts";
import type { ObeyedCall } from "../gates/obey-newer-policy.ts";
import type { PolicyPorts } from "../gates/obey-policy.ts";
import type { PolicySubject } from "../gates/subjects.ts";
import {
  readCurrentPolicy,
  type CurrentPolicyPorts,
  type PinnedTerms,
  type Terms,
} from "../terms.ts";
import { WAITING } from "../waiting.ts";
import { readPacket, type PacketNow, type PreviewedSubject } from "./build-packet.ts";
import { claimConsent, type ConsentPorts } from "./consents.ts";
import { isCoveredBySaga } from "./covered-by-saga.ts";
import { requestApproval, type RequestPorts } from "./request.ts";
import { isAskedUnder, termsNow } from "./terms-now.ts";
import { verifyApproval } from "./verify.ts";

/** What this group uses of the run. */
export type RequireApprovalPorts = RequestPorts &
  CurrentPolicyPorts &
  PolicyPorts &
  RoomPorts &
  ConsentPorts;

/** A call that may need approval under some terms. */
export interface ApprovalSubject extends PreviewedSubject {
  readonly terms: Terms;
  readonly connectionId: PolicySubject["connectionId"];
  readonly amounts: PolicySubject["amounts"];
  readonly shownData: PolicySubject["shownData"];
  readonly unanswered?: PolicySubject["unanswered"];
  readonly previewed?: PolicySubject["previewed"];
  /** The consent that answered the call covers it no longer, so the person is asked. */
  readonly hasConsentEnded?: boolean;
}

/** The approval that the call uses, or null when it needs none. */
export type Approved = Result<ApprovalRecord | null, ToolFailure | typeof WAITING>;

/**
 * Group: lets a call pass that needs no approval, or that people approved with exactly these
 * arguments and under the terms that hold now, and that is still as it was shown; requests approval
 * where nobody was asked yet, and again where the terms or what was shown have changed.
 * Contract: an approval answers this gate and no other gate.
 * Fails: `waiting`; CONFIRMATION_MISSING; PERMISSION_DENIED; POLICY_VIOLATION; STALE_STATE;
 * DEPENDENCY_UNAVAILABLE; UNKNOWN_ERROR for a run that is stopped meanwhile; BUDGET_EXHAUSTED and
 * RATE_LIMITED when the call has no room, or too many approvals are open; what `obeyPolicy` fails
 * with under the current policy.
 */
export async function requireApproval(
  ports: RequireApprovalPorts,
  subject: ApprovalSubject,
  trail: GateTrail,
): Promise<Approved> {
  const known = findApproval(ports, subject);
  const answer = known && answerOf(ports, known);
  return trail.note("approval", answer ?? (await compareTerms(ports, subject, { known, trail })));
}

/** What the call has when its terms are compared. */
interface KnownApproval {
  /** The approval of exactly this payload: approved, or absent. */
  readonly known: ApprovalRecord | undefined;
  /** Notes the answer of each gate that the comparison asks. */
  readonly trail: GateTrail;
}

/**
 * Compares the approval with the terms under the current policy, with the pinned policy as their
 * floor, and with what people would see now. Requests a new approval where they differ.
 */
async function compareTerms(
  ports: RequireApprovalPorts,
  subject: ApprovalSubject,
  { known, trail }: KnownApproval,
): Promise<Approved> {
  const { terms: given } = subject;
  if (!known && !isAskedBy(ports, given.policy, subject)) return ok(null);
  const read = await readTermsNow(ports, subject);
  if (!read.ok) return read;
  const { policy, pin } = read.value;
  const bounds = await termsNow(ports, policyCallOf(subject), { current: read.value, trail });
  if (!bounds.ok) return bounds;
  const { value: bounded } = bounds;
  if (!bounded) return ok(null);
  const needed = { requirements: bounded.requirements, policies: [ports.policy, policy] };
  if (!known && (await isCoveredBySaga(ports, subject, needed))) return ok(null);
  const now = known && (await compareShown(ports, subject, known));
  const holds = known && (await isAskedUnder(known, bounded));
  if (holds && now?.changes.length === 0 && !subject.hasConsentEnded) {
    const call = { args: subject.accepted.args, states: now.packet };
    const named = readNamedPeople(known.requirements, call);
    return verifyApproval(ports, subject, { ...known, ...(named && { named }) });
  }
  const consent = subject.hasConsentEnded ? undefined : await claimConsent(ports, subject, bounded);
  const consents = (): ReservedConsent => (consent ? { consent } : {});
  const call = { ...subject, context: subject.authority.context, consents };
  const room = await checkRoom(ports, call, { policy, pin });
  if (!room.ok) return trail.note("budget", room);
  const { policies } = needed;
  const required = { terms: bounded, pin, policies, now, consentId: room.value };
  return requestApproval(ports, subject, required);
}

function isAskedBy(
  { flow }: Pick<RequireApprovalPorts, "flow">,
  policy: ToolPolicy,
  { tool, accepted: { args }, authority, previewed }: ApprovalSubject,
): boolean {
  const evidence = flow.evidenceOf(authority.context, tool);
  const asked = askedTool(tool, listAsks(policy, { tool, args, evidence }));
  const moved = readMoved(tool.amountField, { args, previewed });
  return requirementsOf(policy, { tool: asked, moved }).length > 0;
}

/**
 * Compares what people approved with what they would see now. A write that may have happened has
 * changed its target itself, so its repetition is not compared.
 */
async function compareShown(
  ports: RequireApprovalPorts,
  subject: ApprovalSubject,
  { packet }: ApprovalRecord,
): Promise<PacketNow> {
  const record = ports.invocations.find(subject.authority.context);
  if (record && isUnknownWrite(record)) return { packet, changes: [] };
  return readPacket(ports, subject, packet);
}

/** Reads the terms that hold now. Terms that are not the run's own were current a moment ago. */
export async function readTermsNow(
  ports: CurrentPolicyPorts,
  { terms: { policy, pin }, authority }: Pick<ApprovalSubject, "terms" | "authority">,
): Promise<Result<PinnedTerms, ToolFailure>> {
  const isPinnedByRun = pin === undefined || (ports.pin && isSamePin(pin, ports.pin));
  return isPinnedByRun ? readCurrentPolicy(ports, authority.context) : ok({ policy, pin });
}

/** The call as the gates of a policy see it, which obeys the terms of the subject. */
export function policyCallOf({ accepted, authority, ...call }: ApprovalSubject): ObeyedCall {
  return { ...call, args: accepted.args, operation: authority.context };
}

/**
 * Finds the approval of exactly this payload. A superseded approval does not count: its arguments
 * were edited, or its terms changed. A request that asks a question is none: its answer is followed
 * by a request that shows the completed arguments.
 */
function findApproval(
  { invocations, approvals }: RequireApprovalPorts,
  { tool, accepted, authority }: ApprovalSubject,
): StandingApproval | undefined {
  const { number } = invocations.find(authority.context) ?? {};
  const newest = number === undefined ? undefined : approvals.newest(number);
  const isThis =
    newest?.payloadHash === accepted.payloadHash &&
    newest.asks === undefined &&
    newest.toolId === tool.id &&
    newest.toolVersion === tool.version;
  return isThis && isStanding(newest) ? newest : undefined;
}

/** An approval whose place no other approval takes. */
interface StandingApproval extends ApprovalRecord {
  readonly status: Exclude<ApprovalRecord["status"], "superseded" | "answered">;
}

function isStanding(record: ApprovalRecord): record is StandingApproval {
  return record.status !== "superseded" && record.status !== "answered";
}

/**
 * Answers from the approval's status. Undefined when it is approved, because its terms must be
 * compared first.
 */
function answerOf(
  { clock }: Pick<RequireApprovalPorts, "clock">,
  record: StandingApproval,
): Approved | undefined {
  switch (record.status) {
    case "pending":
      return record.expiresAtMs > clock.nowMs() ? fail(WAITING) : EXPIRED;
    case "approved":
      return undefined;
    case "rejected":
      return refuseRejected(record, "a person refused this call");
    case "expired":
      return EXPIRED;
    case "withdrawn":
      return APPROVAL_WITHDRAWN;
  }
}

const EXPIRED = failCall("approval_expired");
const APPROVAL_WITHDRAWN = failCall("approval_withdrawn");

/** Longest reason of a person that the model is told. Unit: UTF-16 code units. */
const MAX_REASON_CHARS = 300;

/** Tells the model that a person rejected a request, and why where the person said it. */
export function refuseRejected(
  { votes }: Pick<ApprovalRecord, "votes">,
  what: string,
): ReturnType<typeof failCall> {
  const reason = votes.find(({ decision }) => decision === "reject")?.reason;
  const because = reason === undefined ? "" : `: ${cutText(reason, MAX_REASON_CHARS)}`;
  return failCall("approval_rejected", `${what}${because}`);
}
