import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import { combineRequirements } from "../../protocol/approval/requirement.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { requirementOf } from "../../protocol/policy/decide.ts";
import { isHighSurrogate } from "../../protocol/text/encoding.ts";
import { requestApproval } from "../approval/request.ts";
import type { ActiveCall } from "../active-call.ts";
import { readCurrentPolicy } from "./read-current-policy.ts";
import type { Invocation } from "../invocation.ts";
import { failCall } from "../tool-failure.ts";
import { verifyApproval } from "../approval/verify.ts";
import { WAITING } from "../waiting.ts";
import { checkPolicy } from "./check-policy.ts";
import type { Accepted } from "../accepted.ts";

/** What people said to a call: an approval, or that none is needed. */
export type Approved = Result<ApprovalRecord | null, ToolFailure | typeof WAITING>;

/**
 * Gate 9: lets a call pass that policy and contract leave to the model alone, or that people have
 * approved, with exactly these arguments; asks them where they were not asked yet.
 * Contract: an approval answers this gate and nothing else. Whether the policy is still the one that it
 * was given under is gate 10's to tell. Fails: `waiting`; CONFIRMATION_MISSING; PERMISSION_DENIED for
 * what was refused; POLICY_VIOLATION; DEPENDENCY_UNAVAILABLE.
 */
export async function checkApproval(
  hand: ActiveCall,
  accepted: Accepted,
  invocation: Invocation,
): Promise<Approved> {
  const { ports, tool } = hand;
  const known = findQuestion(hand, accepted.payloadHash);
  if (known) return answerOf(hand, known, accepted.payloadHash);
  const pinned = requirementOf(ports.policy, tool);
  if (!pinned) return ok(null);
  const terms = await readCurrentPolicy(hand);
  if (!terms.ok) return terms;
  const allowed = checkPolicy(terms.value.policy, tool);
  if (!allowed.ok) return allowed;
  const current = requirementOf(terms.value.policy, tool);
  const requirement = current ? combineRequirements(pinned, current) : pinned;
  return requestApproval(hand, { accepted, invocation, requirement, pin: terms.value.pin });
}

/** The question that people were asked about this very payload; one that was edited is none any more. */
function findQuestion(
  { ports, tool, context }: ActiveCall,
  payloadHash: string,
): ApprovalRecord | undefined {
  const { number } = ports.invocations.find(context) ?? {};
  const newest = number === undefined ? undefined : ports.approvals.newest(number);
  const isThis =
    newest?.payloadHash === payloadHash &&
    newest.toolId === tool.id &&
    newest.toolVersion === tool.version &&
    newest.status !== "superseded";
  return isThis ? newest : undefined;
}

async function answerOf(
  hand: ActiveCall,
  record: ApprovalRecord,
  payloadHash: string,
): Promise<Approved> {
  switch (record.status) {
    case "pending":
      return record.expiresAtMs > hand.ports.clock.nowMs() ? fail(WAITING) : EXPIRED;
    case "approved":
      return verifyApproval(hand, record, payloadHash);
    case "rejected":
      return refused(record);
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
  message: "people are not asked about this call any more",
});

/** Longest reason of a person that the model is told. */
const MAX_REASON_CHARS = 300;

function refused({ votes }: ApprovalRecord): Approved {
  const reason = votes.find(({ decision }) => decision === "reject")?.reason;
  const because = reason === undefined ? "" : `: ${cut(reason)}`;
  const message = `a person refused this call${because}`;
  return failCall("PERMISSION_DENIED", { code: "approval_rejected", message });
}

/** Half a character is no text that a provider has to take. */
function cut(reason: string): string {
  const splitsPair = isHighSurrogate(reason.charCodeAt(MAX_REASON_CHARS - 1));
  return reason.slice(0, splitsPair ? MAX_REASON_CHARS - 1 : MAX_REASON_CHARS);
}
