import { failCall } from "../protocol/outcome/failures.ts";
import {
  awaitsRetry,
  type ToolExecResult,
  type ToolInvocationContext,
  type ToolInvocationRecord,
} from "../protocol/invocation/record.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { ToolCall } from "../protocol/tool/call.ts";
import { auditTurnedAway } from "./outcome/audit-call.ts";
import type { ActiveCall, RequestedCall } from "./active-call.ts";
import { makeAttempt } from "./make-attempt.ts";
import { closeReservation } from "./budget/close-reservation.ts";
import { CallHistory } from "./call-history.ts";
import { FairLock } from "./fair-lock.ts";
import { finalise } from "./finalise.ts";
import { isAdmittedFor, operationIdOf, OTHER_PAYLOAD } from "./invocation/invocation-ledger.ts";
import type { ToolRunnerPorts } from "./ports.ts";
import { answerRecorded, answerUnrecorded } from "./outcome/exec-result.ts";
import { record } from "./record.ts";
import { continueSaga } from "./saga/continue-saga.ts";
import { isRunningSaga, type SagaPorts } from "./saga/run-saga.ts";
import { resumeCall } from "./recovery/resume-call.ts";
import { decideNext } from "./retry/decide-next.ts";
import { resolveUnknownOutcome } from "./recovery/unknown-outcome.ts";
import { WAITING } from "./waiting.ts";

export interface ToolRunner {
  /**
   * Takes one tool call through every gate, lets it take effect at most once and records its end.
   * No tool runs in any other way (seeds/000 #1, #31).
   * Contract: never throws. It admits the operation before it answers, and ends it with exactly
   * one `tool_call_result` under the call's own id. A call that ended before gets its recorded
   * result. Another call under the same operation gets a failure; so does a call whose operation is
   * still running. `waiting` means that a person has to approve the call, or to tell whether its
   * effect happened: call `exec` again after that. It also means that an attempt is planned, for
   * this call or for one before it: a new runner makes that attempt. Calls start in the order in
   * which `exec` was called.
   */
  exec(
    toolCall: ToolCall,
    context: ToolInvocationContext,
    signal: AbortSignal,
  ): Promise<ToolExecResult | typeof WAITING>;
  /** Tells whether the run withdrew a tool: the model no longer sees it. */
  isWithdrawn(toolId: string): boolean;
}

type Outcome = ToolExecResult | typeof WAITING;

/** What the calls of one run share. */
interface RunnerState {
  readonly ports: ToolRunnerPorts & {
    readonly history: CallHistory;
    readonly execStep: SagaPorts["execStep"];
  };
  readonly lock: FairLock;
  /** Operations that are running; see operationIdOf. */
  readonly active: Set<string>;
}

/** Builds the runner of one run. */
export function createToolRunner(ports: ToolRunnerPorts): ToolRunner {
  const history = new CallHistory(ports.policy.budgets.maxRepairs);
  for (const { name, step, end } of ports.invocations.ended()) {
    if (end?.lesson) history.take({ toolId: name, step, lesson: end.lesson });
  }
  // A saga holds the run's lock while its steps run, one after the other.
  const execStep: SagaPorts["execStep"] = (call) => exec({ ...state, lock: new FairLock() }, call);
  const state: RunnerState = {
    ports: { ...ports, history, execStep },
    lock: new FairLock(),
    active: new Set(),
  };
  return {
    exec: (toolCall, context, signal) => exec(state, { toolCall, context, signal }),
    isWithdrawn: (toolId) => history.isWithdrawn(toolId),
  };
}

async function exec(
  { ports, lock, active }: RunnerState,
  requested: RequestedCall,
): Promise<Outcome> {
  const admitted = admit({ ports, active }, requested);
  if (admitted.kind === "answered") return admitted.result;
  const operation = operationIdOf(requested.context);
  active.add(operation);
  let release: (() => void) | undefined;
  try {
    const resumed = resumeCall(ports, requested, admitted.record);
    if (resumed.kind === "ended") return resumed.result;
    release = await lock.acquire(resumed.call.tool.isParallel);
    if (!release) return WAITING;
    if (rests(ports, requested)) return WAITING;
    // The time that a call waits for the lock is not part of its duration.
    const call = { ...resumed.call, startedAtMs: ports.clock.nowMs() };
    const outcome = await attemptUntilEnded(ports, call, resumed.resolveFirst);
    await closeReservation(ports, call);
    return outcome;
  } finally {
    // No call overtakes another, also while the run rests.
    if (release && rests(ports, requested)) lock.park();
    else release?.();
    active.delete(operation);
  }
}

/** Tells whether a call that the run still wants waits for the time of its next attempt. */
function rests(
  { clock, invocations }: ToolRunnerPorts,
  { context, signal }: RequestedCall,
): boolean {
  const known = invocations.find(context);
  if (!known || signal.aborted || !awaitsRetry(known)) return false;
  return (known.retry?.atMs ?? 0) > clock.nowMs();
}

/**
 * Makes attempts at a call, and resolves unknown outcomes between them, until the call ends or
 * waits.
 */
async function attemptUntilEnded(
  ports: RunnerState["ports"],
  first: ActiveCall,
  resolveFirst: ToolFailure | undefined,
): Promise<Outcome> {
  let call = first;
  let unknownOutcome = resolveFirst;
  for (;;) {
    if (unknownOutcome) {
      const resolved = await resolveUnknownOutcome(ports, call, unknownOutcome);
      if (resolved.kind === "ended") return resolved.result;
      call = resolved.call;
      unknownOutcome = undefined;
    }
    const isResumed = isRunningSaga(ports, call);
    const result = await (isResumed ? continueSaga(ports, call) : makeAttempt(ports, call));
    if (result === WAITING) return WAITING;
    if (call.tool.saga && result.dispatched) {
      return record(ports, call, await finalise(ports, call, result));
    }
    const next = await decideNext(ports, call, result);
    switch (next.kind) {
      case "ended":
        return record(ports, call, await finalise(ports, call, next.result));
      case "retry":
        call = next.call;
        break;
      case "rests":
        return WAITING;
      case "unknown_outcome":
        unknownOutcome = next.failure;
    }
  }
}

type Admitted =
  | { readonly kind: "answered"; readonly result: ToolExecResult }
  | { readonly kind: "admitted"; readonly record: ToolInvocationRecord };

/**
 * Admits the operation of a new call: opens its record. Answers at once when the operation ended,
 * is running, or belongs to another call.
 */
function admit(
  { ports, active }: Pick<RunnerState, "ports" | "active">,
  requested: RequestedCall,
): Admitted {
  const { invocations, clock } = ports;
  const { toolCall, context } = requested;
  const refuse = ({ failure }: typeof IN_PROGRESS): Admitted => {
    const about = { failure, nowMs: clock.nowMs() };
    ports.journal.audit(auditTurnedAway(ports, requested, about));
    return { kind: "answered", result: answerUnrecorded(ports, requested, failure) };
  };
  const known = invocations.find(context);
  if (known && !isAdmittedFor(known, toolCall)) return refuse(OTHER_PAYLOAD);
  if (known?.end) {
    const result = answerRecorded(known.toolCallId, known.state, known.end);
    return { kind: "answered", result };
  }
  if (active.has(operationIdOf(context))) return refuse(IN_PROGRESS);
  const admitted = known ?? invocations.admit(toolCall, context, clock.nowMs());
  return { kind: "admitted", record: admitted };
}

const IN_PROGRESS = failCall("in_progress");
