import { hashText } from "../protocol/canonical-hash.ts";
import type { ToolFailure } from "../protocol/observation.ts";
import type { Result } from "../protocol/result.ts";
import type { ToolCall } from "../protocol/tool-call.ts";
import type { ToolExecResult, ToolInvocationContext } from "../protocol/tool-invocation.ts";
import type { CallInHand, RunnerState, ToolRunnerPorts } from "./call-in-hand.ts";
import { CallHistory } from "./call-history.ts";
import { conclude, concludeEarly } from "./conclude.ts";
import { FairLock } from "./fair-lock.ts";
import { lookupTool } from "./gates/lookup-tool.ts";
import { passGates, type Passage } from "./pass-gates.ts";
import { nextRetryMs, wait } from "./retry.ts";
import { CANCELLED, failCall, TOOL_FAILED } from "./tool-failure.ts";

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
  const startedAtMs = clock.nowMs();
  const found = lookupTool({ source, versions, nowMs: startedAtMs }, asked.call.name);
  if (!found.ok) return concludeEarly({ ...state, ...asked, startedAtMs }, found.failure);
  const tool = found.value;
  const giveBack = await state.lock.acquire(tool.isParallel);
  try {
    const hand: CallInHand = { ...state, ...asked, tool, startedAtMs, attempt: 1, ...announcer() };
    const stopped = checkTurn(hand);
    return stopped.ok ? await tryAndConclude(hand) : concludeEarly(hand, stopped.failure);
  } finally {
    giveBack();
  }
}

/** What may have happened while the call waited for its turn. */
function checkTurn({ history, ports, signal, tool }: CallInHand): Result<null, ToolFailure> {
  if (signal.aborted) return CANCELLED;
  if (history.isWithdrawn(tool.id)) {
    return failCall("BUDGET_EXHAUSTED", {
      code: "tool_withdrawn",
      message: "this tool is not available any more in this run; go on without it",
    });
  }
  if (!ports.inbox.hasMail) return { ok: true, value: null };
  return failCall("STALE_STATE", {
    code: "skipped",
    message:
      "the user spoke before this call began, so it was not made; ask again if it still fits",
  });
}

async function tryAndConclude(first: CallInHand): Promise<ToolExecResult> {
  const { part, toolCallId } = first.context;
  for (let { attempt } = first; ; attempt++) {
    const hand: CallInHand = { ...first, attempt };
    const passage = await attemptOnce(hand);
    const delayMs = nextRetryMs(hand, passage);
    if (delayMs === undefined) return conclude(hand, passage);
    await wait(hand, delayMs);
    if (hand.signal.aborted) return conclude(hand, { ...passage, outcome: CANCELLED });
    const next = attempt + 1;
    hand.ports.journal.append([{ type: "tool_call_progress", part, toolCallId, attempt: next }]);
  }
}

async function attemptOnce(hand: CallInHand): Promise<Passage> {
  try {
    return await passGates(hand);
  } catch {
    // A schema, a rule or a redaction of an author broke; the call ends like any other. Whether the
    // tool ran is not known, so nothing is tried again.
    const argumentsPrint = await hashText(hand.call.argumentsText);
    return { argumentsPrint, dispatched: true, outcome: TOOL_FAILED };
  }
}

/** Lets a call say once that it starts, whatever the number of attempts. */
function announcer(): Pick<CallInHand, "announceStart"> {
  let isAnnounced = false;
  return {
    announceStart: ({ ports, context }, args) => {
      if (isAnnounced) return;
      isAnnounced = true;
      const { part, toolCallId } = context;
      ports.journal.append([{ type: "tool_call_start", part, toolCallId, args }]);
    },
  };
}
