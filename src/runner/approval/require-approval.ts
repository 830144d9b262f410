import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import { hashTerms } from "../../protocol/approval/terms.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { requirementOf } from "../../protocol/policy/decide.ts";
import { isSamePin } from "../../protocol/policy/pin.ts";
import { cutText } from "../../protocol/text/whole-characters.ts";
import { checkRoom, type RoomPorts } from "../budget/reserve.ts";
import type { GateTrail } from "../gates/gate.ts";
import { obeyNewerPolicy } from "../gates/obey-newer-policy.ts";
import type { PolicyPorts } from "../gates/obey-policy.ts";
import type { PolicySubject, ValiditySubject } from "../gates/subjects.ts";
import { NO_POLICY, readCurrentPolicy, type CurrentPolicyPorts, type Terms } from "../terms.ts";
import { failCall } from "../tool-failure.ts";
import { WAITING } from "../waiting.ts";
import { approvalTermsOf } from "./approval-terms.ts";
import { requestApproval, type RequestPorts } from "./request.ts";
import { verifyApproval } from "./verify.ts";

/** What this group uses of the run. */
export type ApprovalPorts = RequestPorts & CurrentPolicyPorts & PolicyPorts & RoomPorts;

/** A call that may need approval under some terms. */
export interface ApprovalSubject extends ValiditySubject {
  readonly terms: Terms;
  readonly connectionId: PolicySubject["connectionId"];
  readonly amounts: PolicySubject["amounts"];
}

/** The approval that the call uses, or null when it needs none. */
export type Approved = Result<ApprovalRecord | null, ToolFailure | typeof WAITING>;

/**
 * Group: lets a call pass that needs no approval, or that people approved with exactly these
 * arguments and under the terms that hold now; requests approval where nobody was asked yet, and
 * again where the terms have changed (gate 9).
 * Contract: an approval answers this gate and no other gate.
 * Fails: `waiting`; CONFIRMATION_MISSING; PERMISSION_DENIED; POLICY_VIOLATION;
 * DEPENDENCY_UNAVAILABLE; what `obeyPolicy` fails with under the current policy.
 */
export async function requireApproval(
  ports: ApprovalPorts,
  subject: ApprovalSubject,
  trail: GateTrail,
): Promise<Approved> {
  const known = findRequest(ports, subject);
  const answer = known && answerOf(ports, known);
  return trail.note("approval", answer ?? (await compareTerms(ports, subject, { known, trail })));
}

/** What people were asked about the call, and where the gates note what they answer. */
interface Asked {
  /** Approved, or absent. */
  readonly known: ApprovalRecord | undefined;
  readonly trail: GateTrail;
}

/**
 * Compares the approval with the terms under the current policy, with the pinned policy as their
 * floor. Requests a new approval where they differ.
 */
async function compareTerms(
  ports: ApprovalPorts,
  subject: ApprovalSubject,
  { known, trail }: Asked,
): Promise<Approved> {
  const { terms: given, tool, connectionId } = subject;
  if (!known && !requirementOf(given.policy, tool)) return ok(null);
  const current = await obeyCurrentPolicy(ports, subject, trail);
  if (!current.ok) return current;
  const { policy, pin } = current.value;
  if (!pin) return NO_POLICY;
  const terms = approvalTermsOf({ pinned: ports.policy, current: policy, tool, connectionId });
  if (!terms) return ok(null);
  const termsHash = await hashTerms(terms);
  if (known?.termsHash === termsHash) return verifyApproval(ports, subject, known);
  const call = { ...subject, context: subject.invocation.context };
  const room = await checkRoom(ports, call, { policy, pin });
  if (!room.ok) return trail.note("budget", room);
  return requestApproval(ports, subject, { terms, termsHash, pin });
}

/** Reads the current policy and holds the call against it. Newer terms are obeyed already. */
async function obeyCurrentPolicy(
  ports: ApprovalPorts,
  { terms, tool, accepted, connectionId, invocation }: ApprovalSubject,
  trail: GateTrail,
): Promise<Result<Terms, ToolFailure>> {
  if (!isPinnedByRun(ports, terms)) return ok(terms);
  const current = await readCurrentPolicy(ports);
  if (!current.ok || isPinnedByRun(ports, current.value)) return current;
  const call = { tool, args: accepted.args, connectionId, operation: invocation.context };
  const obeyed = await obeyNewerPolicy(ports, call, { terms: current.value, trail });
  return obeyed.ok ? current : obeyed;
}

/**
 * Compares revision and hash. Threat: a policy that changes back has the document of an earlier
 * revision, and possibly its very object.
 */
function isPinnedByRun(ports: ApprovalPorts, { pin }: Terms): boolean {
  return pin === undefined || (ports.pin !== undefined && isSamePin(pin, ports.pin));
}

/**
 * Finds the request about exactly this payload. A request whose arguments were edited is
 * superseded.
 */
function findRequest(
  { invocations, approvals }: ApprovalPorts,
  { tool, accepted, invocation }: ApprovalSubject,
): ApprovalRecord | undefined {
  const { number } = invocations.find(invocation.context) ?? {};
  const newest = number === undefined ? undefined : approvals.newest(number);
  const isThis =
    newest?.payloadHash === accepted.payloadHash &&
    newest.toolId === tool.id &&
    newest.toolVersion === tool.version &&
    newest.status !== "superseded";
  return isThis ? newest : undefined;
}

/**
 * Answers for a request that decides the call without its terms; undefined for one that people
 * approved.
 */
function answerOf(
  { clock }: Pick<ApprovalPorts, "clock">,
  record: ApprovalRecord,
): Approved | undefined {
  switch (record.status) {
    case "pending":
      return record.expiresAtMs > clock.nowMs() ? fail(WAITING) : EXPIRED;
    case "approved":
      return undefined;
    case "rejected":
      return refuseRejected(record);
    case "expired":
      return EXPIRED;
    case "superseded":
    case "withdrawn":
      return WITHDRAWN;
  }
}

const EXPIRED = failCall("CONFIRMATION_MISSING", {
  code: "approval_expired",
  message: "nobody approved this call in time",
});
const WITHDRAWN = failCall("CONFIRMATION_MISSING", {
  code: "approval_withdrawn",
  message: "the approval request for this call is closed",
});

/** Longest reason of a person that the model is told. Unit: UTF-16 code units. */
const MAX_REASON_CHARS = 300;

function refuseRejected({ votes }: ApprovalRecord): Approved {
  const reason = votes.find(({ decision }) => decision === "reject")?.reason;
  const because = reason === undefined ? "" : `: ${cutText(reason, MAX_REASON_CHARS)}`;
  const message = `a person refused this call${because}`;
  return failCall("PERMISSION_DENIED", { code: "approval_rejected", message });
}
