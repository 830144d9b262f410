import { failCall } from "../../protocol/outcome/failures.ts";
import { actsInOwnName } from "../../protocol/approval/check-vote.ts";
import type { BudgetRaise, ExhaustedLimit } from "../../protocol/budget/raise.ts";
import { personOf } from "../../protocol/identity/principal.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { planRaise, raiseTerms } from "../budget/plan-raise.ts";
import { checkRoom } from "../budget/reserve.ts";
import type { GateTrail } from "../gates/gate.ts";
import { operationIdOf } from "../invocation/invocation-ledger.ts";
import { refuseExhausted } from "../outcome/tool-failure.ts";
import type { PinnedTerms } from "../terms.ts";
import { WAITING } from "../waiting.ts";
import {
  readTermsNow,
  type ApprovalSubject,
  type RequireApprovalPorts,
} from "./require-approval.ts";
import { requestApproval } from "./request.ts";

type Raised = Result<unknown, ToolFailure | typeof WAITING>;

/**
 * Asks people to raise a limit of the run that leaves this call no room, where policy lets somebody
 * raise it, or where the person whose run it is set it. A raise lasts for the run, and each limit
 * is raised once. It approves no call.
 * Contract: nobody is asked where no raise gives the call room, or where the tenant has none.
 * Fails: `waiting`; BUDGET_EXHAUSTED; RATE_LIMITED; what `requestApproval` and `readTermsNow` fail
 * with.
 */
export async function askRaise(
  ports: RequireApprovalPorts,
  subject: ApprovalSubject,
  trail: GateTrail,
): Promise<Raised> {
  const { terms, authority } = subject;
  const record = ports.invocations.find(authority.context);
  if (!record || !findExhausted(ports, subject, terms.policy)) return closeRequest(ports, record);
  const read = await readTermsNow(ports, subject);
  if (!read.ok) return trail.note("budget", read);
  // The policy is read meanwhile, and another call may have given its part back.
  const exhausted = findExhausted(ports, subject, read.value.policy);
  if (!exhausted) return closeRequest(ports, record);
  return trail.note("budget", await askFor(ports, subject, { exhausted, current: read.value }));
}

/** A limit that leaves the call no room. */
interface Short {
  readonly exhausted: ExhaustedLimit;
  readonly current: PinnedTerms;
}

async function askFor(
  ports: RequireApprovalPorts,
  subject: ApprovalSubject,
  { exhausted, current: { policy, pin } }: Short,
): Promise<Raised> {
  const { approvals, budget, principal } = ports;
  const { tool, amounts, authority } = subject;
  const refused = refuseExhausted("run", exhausted.budget);
  const asked = approvals.raises().findLast(({ raise }) => isAbout(raise, exhausted));
  if (asked) return asked.state === "granted" ? refused : asked.state === "open" ? OPEN : REFUSED;
  const isOwn = exhausted.source === "person";
  if (isOwn && !actsInOwnName({ actorId: personOf(principal) })) return refused;
  const policies = { pinned: ports.policy, current: policy };
  const used = budget.usedByOthers({ id: operationIdOf(authority.context) });
  const raise = planRaise(exhausted, { person: budget.ownLimits, used, amounts }, policies);
  const terms = raise && raiseTerms(raise, policies, tool.version);
  if (!terms) return refused;
  const call = { ...subject, context: authority.context, consents: () => ({}) };
  const room = await checkRoom(ports, call, { policy, pin });
  if (!room.ok) return room;
  return requestApproval(ports, subject, {
    terms,
    pin,
    policies: [ports.policy, policy],
    now: undefined,
    consentId: undefined,
    asked: { asks: "raise", shown: { raise } },
  });
}

/** Finds a limit without room for the call, under the policy of the run and under another one. */
function findExhausted(
  { budget, policy: pinned }: Pick<RequireApprovalPorts, "budget" | "policy">,
  { amounts, authority }: ApprovalSubject,
  current: PinnedTerms["policy"],
): ExhaustedLimit | undefined {
  const operation = { id: operationIdOf(authority.context), amounts };
  return budget.findExhausted(pinned, operation) ?? budget.findExhausted(current, operation);
}

/** Closes the request of a call that has room now: granted, it is used; open, nobody needs it. */
function closeRequest(
  { approvals, clock }: Pick<RequireApprovalPorts, "approvals" | "clock">,
  record: ToolInvocationRecord | undefined,
): Raised {
  const newest = record && approvals.newest(record.number);
  if (newest?.asks !== "raise") return ok(null);
  if (newest.status === "pending") approvals.withdraw(newest.invocation, clock.nowMs());
  if (newest.status === "approved") approvals.consume(newest.id, clock.nowMs());
  return ok(null);
}

function isAbout({ budget, source }: BudgetRaise, exhausted: ExhaustedLimit): boolean {
  return budget === exhausted.budget && source === exhausted.source;
}

const OPEN = fail<typeof WAITING>(WAITING);
const REFUSED = failCall("raise_refused");
