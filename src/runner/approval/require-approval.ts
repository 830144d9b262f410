import { combineRequirements } from "../../protocol/approval/requirement.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { requirementOf } from "../../protocol/policy/decide.ts";
import { isSamePin } from "../../protocol/policy/pin.ts";
import { isHighSurrogate } from "../../protocol/text/encoding.ts";
import type { GateTrail } from "../gates/gate.ts";
import { isAllowed } from "../gates/is-allowed.ts";
import type { ValiditySubject } from "../gates/subjects.ts";
import { NO_POLICY, readCurrentPolicy, type CurrentPolicyPorts, type Terms } from "../terms.ts";
import { failCall } from "../tool-failure.ts";
import { WAITING } from "../waiting.ts";
import { requestApproval, type RequestPorts } from "./request.ts";
import { verifyApproval } from "./verify.ts";

/** What this group uses of the run. */
export type ApprovalPorts = RequestPorts & CurrentPolicyPorts;

/** A call that may need approval under some terms. */
export interface ApprovalSubject extends ValiditySubject {
  readonly terms: Terms;
}

/** The approval that the call uses, or null when it needs none. */
export type Approved = Result<ApprovalRecord | null, ToolFailure | typeof WAITING>;

/**
 * Group: lets a call pass that needs no approval under the terms, or that people approved with
 * exactly these arguments; requests approval where nobody was asked yet (gate 9). The terms are
 * those that the run pinned, or newer ones. An approval counts under newer terms only if it was
 * requested under them.
 * Contract: an approval answers this gate and no other gate.
 * Fails: `waiting`; CONFIRMATION_MISSING; PERMISSION_DENIED for a rejected call; POLICY_VIOLATION;
 * DEPENDENCY_UNAVAILABLE.
 */
export async function requireApproval(
  ports: ApprovalPorts,
  subject: ApprovalSubject,
  trail: GateTrail,
): Promise<Approved> {
  const known = findRequest(ports, subject);
  const approved = known
    ? await answerOf(ports, subject, known)
    : await requestIfRequired(ports, subject, trail);
  return trail.note("approval", approved);
}

/** Requests an approval under the current policy, with the pinned policy as its floor. */
async function requestIfRequired(
  ports: ApprovalPorts,
  subject: ApprovalSubject,
  trail: GateTrail,
): Promise<Approved> {
  const { terms, tool } = subject;
  const required = requirementOf(terms.policy, tool);
  if (!required) return ok(null);
  const current = isPinnedByRun(ports, terms) ? await readCurrentPolicy(ports) : ok(terms);
  if (!current.ok) return current;
  const { policy, pin } = current.value;
  const allowed = isAllowed({ terms: current.value, tool }, trail);
  if (!allowed.ok) return allowed;
  if (!pin) return NO_POLICY;
  const currently = requirementOf(policy, tool);
  const requirement = currently ? combineRequirements(required, currently) : required;
  return requestApproval(ports, subject, { requirement, pin });
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

async function answerOf(
  ports: ApprovalPorts,
  subject: ApprovalSubject,
  record: ApprovalRecord,
): Promise<Approved> {
  switch (record.status) {
    case "pending":
      return record.expiresAtMs > ports.clock.nowMs() ? fail(WAITING) : EXPIRED;
    case "approved":
      return countsUnder(ports, subject.terms, record)
        ? verifyApproval(ports, subject, record)
        : OUTDATED;
    case "rejected":
      return refuseRejected(record);
    case "expired":
      return EXPIRED;
    case "superseded":
    case "withdrawn":
      return WITHDRAWN;
  }
}

/**
 * Under the pinned terms every approval counts: `reserve` finds out whether they are still current.
 */
function countsUnder(ports: ApprovalPorts, terms: Terms, { pin }: ApprovalRecord): boolean {
  if (isPinnedByRun(ports, terms)) return true;
  return terms.pin !== undefined && isSamePin(pin, terms.pin);
}

const EXPIRED = failCall("CONFIRMATION_MISSING", {
  code: "approval_expired",
  message: "nobody approved this call in time",
});
const WITHDRAWN = failCall("CONFIRMATION_MISSING", {
  code: "approval_withdrawn",
  message: "the approval request for this call is closed",
});
const OUTDATED = failCall("CONFIRMATION_MISSING", {
  code: "approval_outdated",
  message: "the policy has changed since the approval was requested",
});

/** Longest reason of a person that the model is told. Unit: UTF-16 code units. */
const MAX_REASON_CHARS = 300;

function refuseRejected({ votes }: ApprovalRecord): Approved {
  const reason = votes.find(({ decision }) => decision === "reject")?.reason;
  const because = reason === undefined ? "" : `: ${cut(reason)}`;
  const message = `a person refused this call${because}`;
  return failCall("PERMISSION_DENIED", { code: "approval_rejected", message });
}

/** Never cuts a surrogate pair: providers refuse half a character. */
function cut(reason: string): string {
  const splitsPair = isHighSurrogate(reason.charCodeAt(MAX_REASON_CHARS - 1));
  return reason.slice(0, splitsPair ? MAX_REASON_CHARS - 1 : MAX_REASON_CHARS);
}
