import type { ApprovalDesk } from "../capabilities/approval.ts";
import type { RunJournal } from "../capabilities/run-journal.ts";
import type { Clock } from "../capabilities/system.ts";
import type { BoundToolRuntime } from "../capabilities/tool.ts";
import type { ToolCallId } from "../protocol/identity/ids.ts";
import type {
  CallLesson,
  InvocationEnd,
  ToolExecResult,
  ToolInvocationContext,
} from "../protocol/invocation/record.ts";
import type { InvocationState } from "../protocol/invocation/state.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import {
  observeFailure,
  observeSuccess,
  type ObservationFacts,
  type ObservationObject,
  type ToolFailure,
} from "../protocol/outcome/observation.ts";
import {
  NOT_DISPATCHED,
  respond,
  type DispatchState,
} from "../protocol/outcome/response-vector.ts";
import { fail, type Result } from "../protocol/outcome/result.ts";
import { toolErrorCode } from "../protocol/outcome/taxonomy.ts";
import type { ToolCall } from "../protocol/tool/call.ts";
import { auditCall, type AuditPorts, type Grounds } from "./audit-call.ts";
import type { FinalState, InvocationLedger } from "./invocation-ledger.ts";

/** What recording needs from the run. */
export interface RecordPorts extends AuditPorts {
  readonly approvals: Pick<ApprovalDesk, "newest" | "withdraw">;
  readonly invocations: Pick<InvocationLedger, "find" | "end">;
  readonly journal: Pick<RunJournal, "append" | "audit">;
  readonly clock: Pick<Clock, "nowMs">;
}

/** A call that ends. Perhaps its tool was not found; perhaps no attempt was made. */
export interface EndingCall {
  readonly toolCall: Pick<ToolCall, "name">;
  readonly context: ToolInvocationContext;
  readonly startedAtMs: number;
  readonly tool?: BoundToolRuntime;
  readonly attempt?: number;
}

/** How a call ends. */
export interface Conclusion {
  readonly outcome: Result<ShownOutput, ToolFailure>;
  readonly invocationState: FinalState;
  readonly dispatchState: DispatchState;
  readonly warnings?: readonly string[];
  readonly lesson?: CallLesson;
  /** The effect is that of an earlier attempt. */
  readonly isReplay?: boolean;
  readonly grounds?: Grounds;
}

/** The output that the model and the run's readers see; `data` is null when nobody knows it. */
interface ShownOutput {
  readonly data: JsonObject | null;
  readonly warnings: readonly string[];
}

/**
 * Records the end of a call: the invocation's state, the observation's event and the
 * audit entry, stored together. Closes an approval request that nobody answered.
 */
export function record(
  ports: RecordPorts,
  call: EndingCall,
  conclusion: Conclusion,
): ToolExecResult {
  const { context, startedAtMs } = call;
  const { outcome, lesson, dispatchState, invocationState, grounds = {} } = conclusion;
  const { part, toolCallId } = context;
  const endedAtMs = ports.clock.nowMs();
  const observation = observe(ports, { ...call, endedAtMs }, conclusion);
  const response = respond(observation.status.taxonomy_class, dispatchState);
  const errorId = outcome.ok ? undefined : outcome.failure.errorId;
  const end = {
    observation,
    response,
    ...(!outcome.ok && { errorCode: errorCodeOf(outcome.failure) }),
    ...(errorId !== undefined && { errorId }),
    ...(lesson && { lesson }),
    startedAtMs,
    endedAtMs,
  };
  ports.invocations.end(context, invocationState, end);
  const { number } = ports.invocations.find(context) ?? {};
  if (number !== undefined) ports.approvals.withdraw(number, endedAtMs);
  ports.journal.append([{ type: "tool_call_result", part, toolCallId, observation }]);
  ports.journal.audit(auditCall(ports, call, { end, grounds }));
  return toExecResult(toolCallId, invocationState, end);
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

/** Answers a call with a failure. Contract: records nothing. */
export function answerUnrecorded(
  ports: RecordPorts,
  call: Pick<EndingCall, "toolCall" | "context">,
  failure: ToolFailure,
): ToolExecResult {
  const nowMs = ports.clock.nowMs();
  const conclusion = { outcome: fail(failure), dispatchState: NOT_DISPATCHED };
  const times = { startedAtMs: nowMs, endedAtMs: nowMs };
  const observation = observe(ports, { ...call, ...times }, conclusion);
  const response = respond(failure.taxonomyClass, NOT_DISPATCHED);
  const state = ports.invocations.find(call.context)?.state ?? "PENDING";
  const end = { observation, response, ...times, errorCode: errorCodeOf(failure) };
  return toExecResult(call.context.toolCallId, state, end);
}

/** Answers a call that ended before with its recorded end. */
export function answerRecorded(
  toolCallId: ToolCallId,
  state: InvocationState,
  end: InvocationEnd,
): ToolExecResult {
  const result = toExecResult(toolCallId, state, end);
  const { observation } = result;
  const metadata = { ...observation.execution_metadata, idempotency_hit: true };
  return { ...result, observation: { ...observation, execution_metadata: metadata } };
}

/** Builds the result of a call from its recorded end. */
export function toExecResult(
  toolCallId: ToolCallId,
  state: InvocationState,
  { observation, response, errorCode }: InvocationEnd,
): ToolExecResult {
  const ok = !observation.status.is_error;
  const { data } = observation.result_payload;
  return {
    toolCallId,
    ok,
    ...(ok && data && { value: data }),
    ...(errorCode && { errorCode }),
    observation,
    response,
    state,
  };
}

/** The state of an invocation that failed without an effect. */
export function failedState(
  { taxonomyClass }: ToolFailure,
  state: DispatchState,
): "FAILED_RETRYABLE" | "FAILED_FINAL" {
  return respond(taxonomyClass, state).retryable ? "FAILED_RETRYABLE" : "FAILED_FINAL";
}

type ObservePorts = Pick<RecordPorts, "approvals" | "invocations">;

/** Builds the observation of a call: what the model and the run's readers see of its end. */
export function observe(
  ports: ObservePorts,
  {
    toolCall,
    context,
    tool,
    attempt,
    startedAtMs,
    endedAtMs,
  }: EndingCall & {
    readonly endedAtMs: number;
  },
  { outcome, dispatchState, warnings = [], isReplay = false }: Omit<Conclusion, "invocationState">,
): ObservationObject {
  const bound = ports.invocations.find(context)?.binding;
  const facts: ObservationFacts = {
    name: toolCall.name,
    version: tool?.version ?? bound?.version ?? "unknown",
    toolCallId: context.toolCallId,
    traceId: context.runId,
    startedAtMs,
    endedAtMs,
    isReplay,
    attempt: attempt ?? 1,
    isVerificationRequired: tool?.isVerificationRequired ?? false,
    state: dispatchState,
    warnings: [
      ...(outcome.ok ? outcome.value.warnings : []),
      ...warnings,
      ...describeEdit(ports, context),
      ...(tool ? deprecationOf(tool) : []),
      ...(outcome.ok ? [] : describeFault(outcome.failure)),
    ],
  };
  return outcome.ok
    ? observeSuccess(facts, outcome.value.data)
    : observeFailure(facts, outcome.failure);
}

/** Longest arguments that the note of an edit repeats. Unit: UTF-16 code units. */
const MAX_EDITED_CHARS = 4_096;

/** Tells the model of a person's edit. The model's own call still holds the old arguments. */
function describeEdit(
  { approvals, invocations }: ObservePorts,
  context: ToolInvocationContext,
): readonly string[] {
  const { number } = invocations.find(context) ?? {};
  const newest = number === undefined ? undefined : approvals.newest(number);
  if (newest?.isEdited !== true || newest.status !== "approved") return [];
  const shown = JSON.stringify(newest.packet.arguments.shown);
  const what = shown.length > MAX_EDITED_CHARS ? "" : `. It ran with ${shown}`;
  return [`a person changed the arguments of this call before they approved it${what}`];
}

/** Tells people under which id the operator finds the error. */
function describeFault({ errorId }: ToolFailure): readonly string[] {
  return errorId === undefined ? [] : [`the error is logged as ${errorId}`];
}

function deprecationOf({ lifecycle }: BoundToolRuntime): readonly string[] {
  if (lifecycle.status !== "deprecated") return [];
  const until = lifecycle.sunsetDate === null ? "" : ` and ends on ${lifecycle.sunsetDate}`;
  const instead = lifecycle.replacement === null ? "" : `; use ${lifecycle.replacement} instead`;
  return [`this version of the tool is deprecated${until}${instead}`];
}

function errorCodeOf(failure: ToolFailure): NonNullable<ToolExecResult["errorCode"]> {
  return failure.errorCode ?? toolErrorCode(failure.taxonomyClass);
}
