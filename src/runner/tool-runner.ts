import { hashText } from "../protocol/canonical-hash.ts";
import type { ToolCall } from "../protocol/tool-call.ts";
import type { ToolExecResult, ToolInvocationContext } from "../protocol/tool-invocation.ts";
import type { CallInHand, RunnerState, ToolRunnerPorts } from "./call-in-hand.ts";
import { CallHistory } from "./call-history.ts";
import { conclude, concludeEarly } from "./conclude.ts";
import { FairLock } from "./fair-lock.ts";
import { checkTurn } from "./gates/check-turn.ts";
import { lookupTool } from "./gates/lookup-tool.ts";
import { passGates, type Passage } from "./pass-gates.ts";
import { nextRetryMs, wait } from "./retry.ts";
import { TOOL_FAILED } from "./tool-failure.ts";

export interface ToolRunner {
  /**
   * Takes one tool call through every gate, in the order of the design's pipeline: the only way a
   * tool runs (seeds/000 #1, #31).
   * Contract: never throws; records each call once and ends it with exactly one `tool_call_result`
   * under the call's own id, whatever happens. Calls take their turns in the order of asking.
   */
  exec(
    call: ToolCall,
    context: ToolInvocationContext,
    signal: AbortSignal,
  ): Promise<ToolExecResult>;
  /** Tells whether the run goes on without a tool; the model is not shown it any more. */
  isWithdrawn(toolId: string): boolean;
}

/** Builds the runner of one run. */
export function createToolRunner(ports: ToolRunnerPorts): ToolRunner {
  const history = new CallHistory(ports.policy.budgets.maxRepairs);
  const state: RunnerState = { ports, history, lock: new FairLock() };
  return {
    exec: (call, context, signal) => exec(state, { call, context, signal }),
    isWithdrawn: (toolId) => history.isWithdrawn(toolId),
  };
}

type Asked = Pick<CallInHand, "call" | "context" | "signal">;

async function exec(state: RunnerState, asked: Asked): Promise<ToolExecResult> {
  const { source, versions, clock } = state.ports;
  const found = lookupTool({ source, versions, nowMs: clock.nowMs() }, asked.call.name);
  if (!found.ok) {
    return concludeEarly({ ...state, ...asked, startedAtMs: clock.nowMs() }, found.failure);
  }
  const tool = found.value;
  const giveBack = await state.lock.acquire(tool.isParallel);
  try {
    const startedAtMs = clock.nowMs();
    return await tryAndConclude({ ...state, ...asked, tool, startedAtMs, attempt: 1 });
  } finally {
    giveBack();
  }
}

/** Makes attempts at a call until one of them is its last. */
async function tryAndConclude(first: CallInHand): Promise<ToolExecResult> {
  const { part, toolCallId } = first.context;
  for (let hand = first; ;) {
    const passage = await attemptOnce(hand);
    const delayMs = nextRetryMs(hand, passage);
    if (delayMs === undefined) return conclude(hand, passage);
    await wait(hand, delayMs);
    const { begun } = passage;
    const wanted = checkTurn(hand, begun !== undefined);
    // What a tool that ran came to says more than that it is not tried again.
    if (!wanted.ok) return conclude(hand, begun ? passage : { ...passage, outcome: wanted });
    const attempt = hand.attempt + 1;
    hand.ports.journal.append([{ type: "tool_call_progress", part, toolCallId, attempt }]);
    hand = { ...hand, attempt, begun };
  }
}

async function attemptOnce(hand: CallInHand): Promise<Passage> {
  try {
    return await passGates(hand);
  } catch {
    // A schema, a rule or a redaction of an author broke, and the tool did not run: what may break
    // after that never throws. The call ends like any other.
    const argumentsPrint = await hashText(hand.call.argumentsText);
    return { argumentsPrint, begun: hand.begun, outcome: TOOL_FAILED };
  }
}
