import { hashText } from "../protocol/json/canonical-hash.ts";
import type { ToolCall } from "../protocol/tool/call.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import {
  hasUnknownOutcome,
  type InvocationEnd,
  type ToolExecResult,
  type ToolInvocationContext,
  type ToolInvocationRecord,
} from "../protocol/invocation/record.ts";
import { CallHistory } from "./call-history.ts";
import { mutates, type ActiveCall, type RunnerState, type ToolRunnerPorts } from "./active-call.ts";
import { closeReservation } from "./budget/close-reservation.ts";
import { conclude, concludeEarly, IN_PROGRESS, resultOf, turnAway } from "./conclude.ts";
import { FairLock } from "./fair-lock.ts";
import { GateTrail, type GateResults } from "./gates/trail.ts";
import { checkStillWanted } from "./gates/check-still-wanted.ts";
import { lookupTool } from "./gates/lookup-tool.ts";
import { asksForThe, operationIdOf, OTHER_PAYLOAD } from "./invocation-ledger.ts";
import { passGates, type AttemptResult } from "./pass-gates.ts";
import { pause } from "./pause.ts";
import { nextRetryMs } from "./recovery/retry.ts";
import {
  awaitOperator,
  concludeSettled,
  concludeStopped,
  doubtAfter,
  INTERRUPTED,
  settleDoubt,
} from "./recovery/unknown-outcome.ts";
import { TOOL_FAILED } from "./tool-failure.ts";
import { WAITING } from "./waiting.ts";

export interface ToolRunner {
  /**
   * Takes one tool call through every gate, in the order of the design's pipeline: the only way a
   * tool runs (seeds/000 #1, #31).
   * Contract: never throws; reserves the operation before it answers, records it once and ends it with
   * exactly one `tool_call_result` under the call's own id, whatever happens; or it waits for people
   * who are to approve it or to tell what became of it, and is to be asked for again once there is word. A call that ended before is answered with what came
   * of it; one that asks for something else under the same operation is turned away, as is one that is
   * being carried out. Calls take their turns in the order of asking.
   */
  exec(
    call: ToolCall,
    context: ToolInvocationContext,
    signal: AbortSignal,
  ): Promise<ToolExecResult | typeof WAITING>;
  /** Tells whether the run goes on without a tool; the model is not shown it any more. */
  isWithdrawn(toolId: string): boolean;
}

/** Builds the runner of one run. */
export function createToolRunner(ports: ToolRunnerPorts): ToolRunner {
  const history = new CallHistory(ports.policy.budgets.maxRepairs);
  for (const { name, step, end } of ports.invocations.ended()) {
    if (end?.lesson) history.take({ toolId: name, step, lesson: end.lesson });
  }
  const state: RunnerState = { ports, history, lock: new FairLock(), inHand: new Set() };
  return {
    exec: (call, context, signal) => exec(state, { call, context, signal }),
    isWithdrawn: (toolId) => history.isWithdrawn(toolId),
  };
}

type Asked = Pick<ActiveCall, "call" | "context" | "signal">;
type Outcome = ToolExecResult | typeof WAITING;

async function exec(state: RunnerState, asked: Asked): Promise<Outcome> {
  const { invocations, clock } = state.ports;
  const known = invocations.find(asked.context);
  if (known && !asksForThe(known, asked.call)) return turnAway(state.ports, asked, OTHER_PAYLOAD);
  if (known?.end) return repeat(known, known.end);
  const operation = operationIdOf(asked.context);
  if (state.inHand.has(operation)) return turnAway(state.ports, asked, IN_PROGRESS);
  state.inHand.add(operation);
  const record = known ?? invocations.reserve(asked.call, asked.context, clock.nowMs());
  try {
    return await carryOut(state, asked, record);
  } finally {
    state.inHand.delete(operation);
  }
}

/** Answers a call that ended before with what came of it then. */
function repeat(record: ToolInvocationRecord, end: InvocationEnd): ToolExecResult {
  const result = resultOf(record.toolCallId, record.state, end);
  const { observation } = result;
  const metadata = { ...observation.execution_metadata, idempotency_hit: true };
  return { ...result, observation: { ...observation, execution_metadata: metadata } };
}

/** There is no such tool, or none that may be used. */
const NOT_FOUND: GateResults = { passed: [], refusedBy: "lookup" };

/** Takes up a call that is new, or that an earlier life of the run left open. */
async function carryOut(
  state: RunnerState,
  asked: Asked,
  record: ToolInvocationRecord,
): Promise<Outcome> {
  const { source, versions, clock } = state.ports;
  const ending = { ...state, ...asked, startedAtMs: clock.nowMs() };
  const { dispatches, settlement, awaitedUntilMs, binding } = record;
  if (settlement) return concludeSettled({ ...ending, attempt: dispatches }, settlement);
  const isOpen = hasUnknownOutcome(record);
  if (isOpen && asked.signal.aborted && binding?.mutates === true) {
    return concludeStopped({ ...ending, attempt: dispatches }, INTERRUPTED);
  }
  if (awaitedUntilMs !== undefined) return WAITING;
  const found = lookupTool({ source, versions, nowMs: clock.nowMs() }, asked.call.name);
  if (!found.ok) {
    if (!isOpen || binding?.mutates !== true) {
      return concludeEarly(ending, found.failure, { gates: NOT_FOUND });
    }
    awaitOperator(ending);
    return WAITING;
  }
  const tool = found.value;
  const giveBack = await state.lock.acquire(tool.isParallel);
  try {
    const hand = { ...ending, tool, startedAtMs: clock.nowMs(), attempt: dispatches + 1 };
    const outcome = await (isOpen ? takeUp(hand, binding) : tryAndConclude(hand));
    await closeReservation(hand);
    return outcome;
  } finally {
    giveBack();
  }
}

/** Goes on with a call whose tool was asked in an earlier life of the run. */
function takeUp(hand: ActiveCall, binding: ToolInvocationRecord["binding"]): Promise<Outcome> {
  const { tool, context } = hand;
  // What it was then counts: meanwhile another version may have taken the tool's place.
  if (binding?.mutates !== true) return tryAndConclude({ ...hand, begun: context });
  const inDoubt = { ...hand, begun: context, doubt: INTERRUPTED };
  if (tool.isIdempotent) return tryAndConclude(inDoubt);
  return settle({ ...inDoubt, attempt: hand.attempt - 1 }, INTERRUPTED);
}

async function settle(hand: ActiveCall, doubt: ToolFailure): Promise<Outcome> {
  const settled = await settleDoubt(hand, doubt);
  return settled.kind === "ended" ? settled.result : tryAndConclude(settled.hand);
}

/** Makes attempts at a call until one of them is its last. */
async function tryAndConclude(first: ActiveCall): Promise<Outcome> {
  const { part, toolCallId } = first.context;
  const { invocations, journal } = first.ports;
  for (let hand = first; ;) {
    const passage = await attemptOnce(hand);
    if (passage === WAITING) return WAITING;
    const doubt = doubtAfter(hand, passage);
    const delayMs = nextRetryMs(hand, passage);
    if (delayMs === undefined) return doubt ? settle(hand, doubt) : conclude(hand, passage);
    // So that a crash while it waits asks nobody what is known.
    if (passage.dispatched && !doubt && mutates(hand.tool)) invocations.retract(first.context);
    await pause(hand.ports.clock, delayMs, hand.signal);
    const { begun } = passage;
    const wanted = checkStillWanted(hand, begun !== undefined);
    if (!wanted.ok) {
      if (doubt) return settle(hand, doubt);
      // What a tool that ran came to says more than that it is not tried again.
      return conclude(hand, begun ? passage : { ...passage, outcome: wanted });
    }
    const attempt = hand.attempt + 1;
    journal.append([{ type: "tool_call_progress", part, toolCallId, attempt }]);
    hand = { ...hand, attempt, begun, doubt };
  }
}

async function attemptOnce(hand: ActiveCall): Promise<AttemptResult | typeof WAITING> {
  const trail = new GateTrail();
  try {
    return await passGates(hand, trail);
  } catch {
    // A schema, a rule or a redaction of an author broke, and the tool did not run: what may break
    // after that never throws. The call ends like any other.
    const argumentsFingerprint = await hashText(hand.call.argumentsText);
    const gates = trail.results;
    return {
      argumentsFingerprint,
      begun: hand.begun,
      dispatched: false,
      outcome: TOOL_FAILED,
      gates,
    };
  }
}
