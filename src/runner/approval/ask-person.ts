import { failCall } from "../../protocol/outcome/failures.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { asksAnswer } from "../../protocol/approval/question.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import { PATTERN_DEFAULTS } from "../../protocol/approval/requirement.ts";
import { actsInOwnName } from "../../protocol/approval/check-vote.ts";
import type { ApprovalTerms } from "../../protocol/approval/terms.ts";
import { personOf } from "../../protocol/identity/principal.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { WAITING } from "../waiting.ts";
import { checkRoom } from "../budget/reserve.ts";
import type { GateTrail } from "../gates/gate.ts";
import { obeyPolicy } from "../gates/obey-policy.ts";
import { NO_BOUNDS, type BoundedTerms } from "./approval-terms.ts";
import { readQuestion } from "./read-question.ts";
import {
  policyCallOf,
  readTermsNow,
  refuseRejected,
  type ApprovalSubject,
  type RequireApprovalPorts,
} from "./require-approval.ts";
import { requestApproval } from "./request.ts";
import { termsNow } from "./terms-now.ts";
import { mayAsk } from "./unanswered.ts";

type Asked = Result<null, ToolFailure | typeof WAITING>;

/**
 * Asks the person for whom the run acts what the contract wants to know before this call. The
 * answer completes the arguments, so the call comes back with other arguments and passes every gate
 * again. Where one person gives the answer and the approval, one request asks for both.
 * Contract: a call is asked about once. Nobody is asked about a call that the current policy
 * refuses, or that has no room.
 * Fails: `waiting`; CONFIRMATION_MISSING; PERMISSION_DENIED; what `requestApproval`, `checkRoom`
 * and the gates of the current policy fail with.
 */
export async function askPerson(
  ports: RequireApprovalPorts,
  subject: ApprovalSubject,
  trail: GateTrail,
): Promise<Asked> {
  const { tool, accepted, authority } = subject;
  const record = ports.invocations.find(authority.context);
  if (!tool.ask || !record) return ok(null);
  if (record.answer) ports.approvals.takeAnswer(record.number, ports.clock.nowMs());
  if (!mayAsk(record)) return trail.note("question", ok(null));
  const { beforeState } = await subject.states();
  const question = readQuestion({ tool, ...accepted, before: beforeState });
  if (!question) return obeyUnasked(ports, subject, trail);
  const known = findQuestion(ports, subject, record);
  if (known) return trail.note("question", answerOf(ports, known));
  const read = await readTermsNow(ports, subject);
  if (!read.ok) return trail.note("question", read);
  const { policy, pin } = read.value;
  const bounds = await termsNow(ports, policyCallOf(subject), { current: read.value, trail });
  if (!bounds.ok) return bounds;
  if (!actsInOwnName({ actorId: personOf(ports.principal) })) return trail.note("question", NOBODY);
  const call = { ...subject, context: authority.context, consents: () => ({}) };
  const room = await checkRoom(ports, call, { policy, pin });
  if (!room.ok) return trail.note("budget", room);
  const required = {
    pin,
    policies: [ports.policy, policy],
    now: undefined,
    consentId: undefined,
    ...termsOf(tool, bounds.value),
  };
  const asks = required.terms === bounds.value ? "answer_and_vote" : "answer";
  const requested = await requestApproval(ports, subject, {
    ...required,
    asked: { asks, shown: { question } },
  });
  return trail.note("question", requested.ok ? ok(null) : requested);
}

/**
 * Holds a call that asks nothing against the rules of the fields that nobody will answer.
 * Threat: a rule about a field is passed over because a question was to come.
 */
async function obeyUnasked(
  ports: RequireApprovalPorts,
  subject: ApprovalSubject,
  trail: GateTrail,
): Promise<Asked> {
  const { terms, unanswered = [] } = subject;
  if (unanswered.length === 0) return trail.note("question", ok(null));
  const obeyed = await obeyPolicy(
    ports,
    { ...policyCallOf(subject), terms, unanswered: [] },
    trail,
  );
  return obeyed.ok ? trail.note("question", ok(null)) : obeyed;
}

/** The terms of a request that asks for both, or those of a question alone. */
function termsOf(
  { version: toolVersion, ask }: BoundToolRuntime,
  bounded: BoundedTerms | undefined,
): { readonly terms: ApprovalTerms } {
  const [first, ...others] = bounded?.requirements ?? [];
  if (bounded && first?.onlyRequester && others.length === 0) return { terms: bounded };
  const ttlSeconds = ask?.ttlSeconds ?? 0;
  const requirements = [{ ...PATTERN_DEFAULTS.user_consent, ttlSeconds }];
  return { terms: { toolVersion, requirements, bounds: NO_BOUNDS } };
}

/** Finds the question about exactly this payload. A superseded one does not count. */
function findQuestion(
  { approvals }: RequireApprovalPorts,
  { tool, accepted }: ApprovalSubject,
  { number }: ToolInvocationRecord,
): ApprovalRecord | undefined {
  const newest = approvals.newest(number);
  if (!newest || !asksAnswer(newest.asks)) return undefined;
  const isThis = newest.payloadHash === accepted.payloadHash && newest.toolVersion === tool.version;
  return isThis && newest.status !== "superseded" ? newest : undefined;
}

function answerOf({ clock }: Pick<RequireApprovalPorts, "clock">, record: ApprovalRecord): Asked {
  switch (record.status) {
    case "pending":
      return record.expiresAtMs > clock.nowMs() ? fail(WAITING) : EXPIRED;
    case "rejected":
      return refuseRejected(record, "the person did not answer the question about this call");
    case "withdrawn":
      return WITHDRAWN;
    case "answered":
      return UNREAD;
    case "approved":
    case "expired":
    case "superseded":
      return EXPIRED;
  }
}

const EXPIRED = failCall(
  "approval_expired",
  "nobody answered the question about this call in time",
);
/** The person answered since the loop read the call, which waits until the loop reads it again. */
const UNREAD = fail<typeof WAITING>(WAITING);
const WITHDRAWN = failCall("approval_withdrawn", "the question about this call is closed");

const NOBODY = failCall("nobody_may_answer");
