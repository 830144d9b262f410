import type { Veto } from "../capabilities/tool.ts";
import { hashText } from "../protocol/json/canonical-hash.ts";
import type { ToolCallId } from "../protocol/identity/ids.ts";
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
import type { CallLesson, InvocationEnd, ToolExecResult } from "../protocol/invocation/record.ts";
import { auditCall, type AuditPorts, type Grounds } from "./audit-call.ts";
import { fingerprintOf } from "./call-history.ts";
import { mutates, type ActiveCall, type ToolRunnerPorts } from "./active-call.ts";
import { askAfter } from "./gates/ask-hooks.ts";
import type { FinalState } from "./invocation-ledger.ts";
import { hookedCall, type AttemptResult } from "./pass-gates.ts";
import { dispatchStateOf, hasHappened } from "./recovery/retry.ts";
import { failCall } from "./tool-failure.ts";

/** A call that may not even have found its tool. */
export type Ending = Pick<ActiveCall, "call" | "context" | "startedAtMs"> &
  Partial<Pick<ActiveCall, "tool" | "attempt">> & {
    readonly ports: Pick<ToolRunnerPorts, "approvals" | "clock" | "invocations" | "journal"> &
      AuditPorts;
  };

/** How a call ends. */
interface Conclusion {
  readonly outcome: Result<Shown, ToolFailure>;
  readonly invocationState: FinalState;
  readonly dispatchState: DispatchState;
  readonly warnings?: readonly string[];
  readonly lesson?: CallLesson;
  /** The effect is that of an earlier attempt. */
  readonly isReplay?: boolean;
  readonly grounds?: Grounds;
}

/** What is shown of a result; null when it is not known. */
interface Shown {
  readonly data: JsonObject | null;
  readonly warnings: readonly string[];
}

/** Ends a call that no attempt was made at. */
export function concludeEarly(
  ending: Ending,
  failure: ToolFailure,
  grounds: Grounds = {},
): ToolExecResult {
  const dispatchState = NOT_DISPATCHED;
  const invocationState = failedState(failure, dispatchState);
  return finish(ending, { outcome: fail(failure), invocationState, dispatchState, grounds });
}

/** Turns away a call of an operation that has a record. Contract: records nothing. */
export function turnAway(
  ports: Ending["ports"],
  asked: Pick<ActiveCall, "call" | "context">,
  { failure }: typeof IN_PROGRESS,
): ToolExecResult {
  const nowMs = ports.clock.nowMs();
  const conclusion = { outcome: fail(failure), dispatchState: NOT_DISPATCHED };
  const observation = observe({ ports, ...asked, startedAtMs: nowMs }, conclusion, nowMs);
  const response = respond(failure.taxonomyClass, NOT_DISPATCHED);
  const end = { observation, response, startedAtMs: nowMs, endedAtMs: nowMs };
  const state = ports.invocations.find(asked.context)?.state ?? "PENDING";
  return resultOf(asked.context.toolCallId, state, { ...end, errorCode: codeOf(failure) });
}

/** Turns away a call that is being carried out already. */
export const IN_PROGRESS = failCall("IDEMPOTENCY_CONFLICT", {
  code: "in_progress",
  message: "the same operation is being carried out; its result will come",
});

/** Ends a call whose effect is in doubt: nobody will find out any more. */
export function concludeExpired(ending: Ending, failure: ToolFailure): ToolExecResult {
  const dispatchState = { ...NOT_DISPATCHED, dispatched: true, mutates: true };
  return finish(ending, { outcome: fail(failure), invocationState: "EXPIRED", dispatchState });
}

/** Ends a call of which only an operator could tell that it happened. */
export function concludeConfirmed(ending: Ending): ToolExecResult {
  return finish(ending, {
    outcome: { ok: true, value: { data: null, warnings: [CONFIRMED] } },
    invocationState: "COMPLETED",
    dispatchState: { ...NOT_DISPATCHED, dispatched: true, mutates: true },
    isReplay: true,
  });
}

const CONFIRMED = "an operator confirmed that this happened; its result is not known";

/**
 * Gate 14: draws the lessons from a call, asks the deployment's hooks about its outcome, records it and
 * says how it ended.
 */
export async function conclude(hand: ActiveCall, passage: AttemptResult): Promise<ToolExecResult> {
  const { args, begun, isReplay = false, gates, argumentsFingerprint } = passage;
  const { outcome, lesson, repairEnded, warnings } = await learn(hand, passage);
  const dispatchState = { ...dispatchStateOf(hand, passage), repairEnded };
  const invocationState = finalState(passage, dispatchState);
  const grounds = { gates, args, payloadHash: args && argumentsFingerprint };
  const ending = { invocationState, dispatchState, isReplay, grounds };
  const conclusion = { outcome, lesson, warnings, ...ending };
  if (!begun || !args) return finish(hand, conclusion);
  const { ports, tool } = hand;
  const observation = observe(hand, conclusion, ports.clock.nowMs());
  const veto = await askAfter(ports, hookedCall(tool, begun, args), observation);
  if (!veto) return finish(hand, conclusion);
  return finish(hand, { ...conclusion, outcome: withhold(outcome, veto), warnings: [] });
}

/** What may follow of a failure is not a hook's to change: only its words are withheld. */
function withhold(outcome: Conclusion["outcome"], veto: Veto): Result<never, ToolFailure> {
  const what = outcome.ok ? "ran, but its result" : "was asked, but what became of it";
  const message = `the tool ${what} is withheld: ${veto.message}`;
  const taxonomyClass = outcome.ok ? "POLICY_VIOLATION" : outcome.failure.taxonomyClass;
  return fail({ taxonomyClass, errors: [{ field: null, code: veto.code, message }] });
}

/** A mutation whose output does not fit has happened all the same. */
function finalState(passage: AttemptResult, state: DispatchState): FinalState {
  const { outcome } = passage;
  return outcome.ok || hasHappened(passage) ? "COMPLETED" : failedState(outcome.failure, state);
}

function failedState(
  { taxonomyClass }: ToolFailure,
  state: DispatchState,
): "FAILED_RETRYABLE" | "FAILED_FINAL" {
  return respond(taxonomyClass, state).retryable ? "FAILED_RETRYABLE" : "FAILED_FINAL";
}

const LOOP_WARNING =
  "this call brought the same result three times; it will not be made again with these arguments";
const REPAIR_ENDED = {
  field: null,
  code: "repair_ended",
  message: "this mistake was not mended; the tool is not available any more in this run",
} as const;

type Learnt = Pick<Conclusion, "outcome"> & {
  readonly lesson: CallLesson;
  readonly warnings: readonly string[];
  readonly repairEnded: boolean;
};

/** Notes what a call came to, and tells the model when it goes in circles. */
async function learn(
  { context, history, tool }: ActiveCall,
  { argumentsFingerprint, begun, outcome }: AttemptResult,
): Promise<Learnt> {
  const said = outcome.ok ? JSON.stringify(outcome.value.data) : fingerprintOf(outcome.failure);
  const lesson: CallLesson = {
    argumentsFingerprint,
    begun: begun !== undefined,
    changed: outcome.ok && mutates(tool),
    resultFingerprint: await shorten(said),
    ...(!outcome.ok && { failureClass: outcome.failure.taxonomyClass }),
  };
  const taken = history.take({ toolId: tool.id, step: context.step, lesson });
  const warnings = taken.isLooping ? [LOOP_WARNING] : [];
  if (outcome.ok) return { outcome, lesson, warnings, repairEnded: false };
  const repairEnded = history.isWithdrawn(tool.id);
  if (!taken.ends) return { outcome, lesson, warnings, repairEnded };
  const errors = [...outcome.failure.errors, REPAIR_ENDED];
  return { outcome: fail({ ...outcome.failure, errors }), lesson, warnings, repairEnded };
}

/** Longest text that a run remembers as it is. Unit: UTF-16 code units. */
const MAX_REMEMBERED_CHARS = 256;

/** A hash is shorter than most results, and costs more than the shortest. */
async function shorten(text: string): Promise<string> {
  return text.length <= MAX_REMEMBERED_CHARS ? text : hashText(text);
}

function finish(ending: Ending, conclusion: Conclusion): ToolExecResult {
  const { ports, context, startedAtMs } = ending;
  const { outcome, lesson, dispatchState, invocationState, grounds = {} } = conclusion;
  const { part, toolCallId } = context;
  const endedAtMs = ports.clock.nowMs();
  const observation = observe(ending, conclusion, endedAtMs);
  const response = respond(observation.status.taxonomy_class, dispatchState);
  const end = {
    observation,
    response,
    ...(!outcome.ok && { errorCode: codeOf(outcome.failure) }),
    ...(lesson && { lesson }),
    startedAtMs,
    endedAtMs,
  };
  ports.invocations.settle(context, invocationState, end);
  const { number } = ports.invocations.find(context) ?? {};
  if (number !== undefined) ports.approvals.withdraw(number, endedAtMs);
  ports.journal.append([{ type: "tool_call_result", part, toolCallId, observation }]);
  ports.journal.audit(auditCall(ending, end, grounds));
  return resultOf(toolCallId, invocationState, end);
}

/** Makes the result of a call out of what is recorded of its end. */
export function resultOf(
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

function observe(
  { ports, call, context, tool, attempt, startedAtMs }: Ending,
  { outcome, dispatchState, warnings = [], isReplay = false }: Omit<Conclusion, "invocationState">,
  endedAtMs: number,
): ObservationObject {
  const facts: ObservationFacts = {
    name: call.name,
    version: tool?.version ?? ports.invocations.find(context)?.binding?.version ?? "unknown",
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
      ...(wasEdited(ports, context) ? [EDITED] : []),
      ...(tool ? deprecationOf(tool) : []),
    ],
  };
  return outcome.ok
    ? observeSuccess(facts, outcome.value.data)
    : observeFailure(facts, outcome.failure);
}

const EDITED = "a person changed the arguments of this call before they approved it";

function wasEdited(
  { approvals, invocations }: Ending["ports"],
  context: Ending["context"],
): boolean {
  const { number } = invocations.find(context) ?? {};
  const newest = number === undefined ? undefined : approvals.newest(number);
  return newest?.isEdited === true && newest.status === "approved";
}

function deprecationOf({ lifecycle }: NonNullable<Ending["tool"]>): readonly string[] {
  if (lifecycle.status !== "deprecated") return [];
  const until = lifecycle.sunsetDate === null ? "" : ` and ends on ${lifecycle.sunsetDate}`;
  const instead = lifecycle.replacement === null ? "" : `; use ${lifecycle.replacement} instead`;
  return [`this version of the tool is deprecated${until}${instead}`];
}

function codeOf(failure: ToolFailure): NonNullable<ToolExecResult["errorCode"]> {
  return failure.errorCode ?? toolErrorCode(failure.taxonomyClass);
}
