import type { ApprovalDesk } from "../capabilities/approval.ts";
import type { RunJournal } from "../capabilities/run-journal.ts";
import type { Clock } from "../capabilities/system.ts";
import { usedAmounts } from "../protocol/budget/cost-of-call.ts";
import type { InvocationEnd, ToolExecResult } from "../protocol/invocation/record.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import {
  NOT_DISPATCHED,
  respond,
  type DispatchState,
} from "../protocol/outcome/response-vector.ts";
import { fail } from "../protocol/outcome/result.ts";
import { showContent } from "../protocol/tool/content.ts";
import type { PlannedVerification } from "../protocol/outcome/verification.ts";
import { checkArguments } from "./gates/check-arguments.ts";
import { checkRules } from "./gates/check-rules.ts";
import { auditCall, type AuditPorts, type Grounds } from "./outcome/audit-call.ts";
import type { Conclusion, EndingCall } from "./outcome/conclusion.ts";
import { escalationOf } from "./outcome/escalation-of.ts";
import { errorCodeOf, toExecResult } from "./outcome/exec-result.ts";
import { isUntrusted } from "./outcome/is-untrusted.ts";
import { markFailedUndo } from "./undo/failed-undo.ts";
import type { InvocationLedger } from "./invocation/invocation-ledger.ts";
import { observe } from "./outcome/observe.ts";

/** What recording needs from the run. */
export interface RecordPorts extends AuditPorts {
  readonly approvals: Pick<ApprovalDesk, "newest" | "withdraw">;
  readonly invocations: Pick<InvocationLedger, "find" | "end">;
  readonly journal: Pick<RunJournal, "append" | "audit">;
  readonly clock: Pick<Clock, "nowMs">;
}

/**
 * Records the end of a call: the invocation's state, the observation's event, the content beside it
 * and the audit entry, stored together. Closes an approval request that nobody answered.
 */
export function record(ports: RecordPorts, call: EndingCall, given: Conclusion): ToolExecResult {
  const conclusion = markFailedUndo(call, given);
  const { context, startedAtMs } = call;
  const {
    outcome,
    content = [],
    details,
    lesson,
    compensation,
    output,
    dispatchState,
    invocationState,
  } = conclusion;
  const { part, toolCallId } = context;
  const endedAtMs = ports.clock.nowMs();
  const observation = observe(ports, { ...call, endedAtMs }, conclusion);
  const response = respond(observation.status.taxonomy_class, dispatchState);
  const failure: Partial<ToolFailure> = outcome.ok ? {} : outcome.failure;
  const { errorId, detail, endedBy, endsRun, currentState } = failure;
  const verification = planVerification(call, conclusion, endedAtMs);
  const known = ports.invocations.find(context);
  const used = known && usedAmounts(call.tool, known);
  const end = {
    observation,
    ...(verification && { verification }),
    ...(content.length > 0 && { content }),
    ...(details && { details }),
    ...(isUntrusted(ports, call, conclusion) && { isUntrusted: true as const }),
    response,
    ...(!outcome.ok && { errorCode: errorCodeOf(outcome.failure) }),
    ...(endedBy && { endedBy }),
    ...(errorId !== undefined && { errorId }),
    ...(detail !== undefined && { detail }),
    ...(endsRun && { endsRun }),
    ...(!outcome.ok && fitsOf(conclusion.grounds)),
    ...(currentState && call.tool && { dataClass: call.tool.spec.dataClass }),
    ...(output && { output }),
    ...(used && { used }),
    ...(compensation && { compensation }),
    ...(lesson && { lesson }),
    startedAtMs,
    endedAtMs,
  };
  ports.invocations.end(context, invocationState, end);
  const seen = {
    ...(content.length > 0 && { content: showContent(content) }),
    ...(details && { details }),
  };
  ports.journal.append([{ type: "tool_call_result", part, toolCallId, observation, ...seen }]);
  const { grounds = {}, usedNames } = conclusion;
  const escalation = escalationOf(call, conclusion, response);
  ports.journal.audit(auditCall(ports, call, { end, grounds, escalation }), usedNames);
  // Last, because it stores what was written so far: a reader and the audit log learn of each end.
  if (known) ports.approvals.withdraw(known.number, endedAtMs);
  return toExecResult(toolCallId, invocationState, end);
}

/** Tells how far the arguments came, for the metrics of the run. */
function fitsOf({ gates }: Grounds = {}): Pick<InvocationEnd, "fits"> {
  if (gates?.passed.includes(checkRules.name)) return { fits: "rules" };
  return gates?.passed.includes(checkArguments.name) ? { fits: "schema" } : {};
}

/** Plans the read of the state that a completed call leads to; undefined when nothing is read. */
function planVerification(
  { tool }: EndingCall,
  { invocationState, expectation }: Conclusion,
  endedAtMs: number,
): PlannedVerification | undefined {
  if (!tool?.isVerificationRequired || invocationState !== "COMPLETED") return undefined;
  const delayMs = expectation?.expected ? tool.verificationDelaySeconds * 1_000 : 0;
  return { dueAtMs: endedAtMs + delayMs, expected: expectation?.expected ?? null };
}

/** Records the end of a call whose tool never ran. */
export function recordFailure(
  ports: RecordPorts,
  call: EndingCall,
  { failure, grounds = {} }: { readonly failure: ToolFailure; readonly grounds?: Grounds },
): ToolExecResult {
  const dispatchState = NOT_DISPATCHED;
  const invocationState = failedState(failure, dispatchState);
  return record(ports, call, { outcome: fail(failure), invocationState, dispatchState, grounds });
}

/** The state of an invocation that failed without an effect. */
export function failedState(
  { taxonomyClass }: ToolFailure,
  state: DispatchState,
): "FAILED_RETRYABLE" | "FAILED_FINAL" {
  return respond(taxonomyClass, state).retryable ? "FAILED_RETRYABLE" : "FAILED_FINAL";
}
