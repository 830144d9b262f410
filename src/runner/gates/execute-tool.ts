import type { Clock } from "../../capabilities/clock.ts";
import type { BoundToolRuntime } from "../../capabilities/tool-source.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import { fail, type Result } from "../../protocol/result.ts";
import type { ToolInvocationContext } from "../../protocol/tool-invocation.ts";
import { boundFailure, CANCELLED, failCall, TOOL_FAILED } from "../tool-failure.ts";

export interface Execution {
  readonly tool: BoundToolRuntime;
  readonly args: JsonObject;
  readonly context: ToolInvocationContext;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Gate 12: runs the tool until it answers, its time is up or the run is cancelled.
 * Contract: never throws; a tool that ignores its signal is left behind, and what it answers later
 * is dropped. Nothing of a thrown error reaches the failure.
 * Fails: TIMEOUT; UNKNOWN_ERROR for a throw and for a cancelled run; whatever the tool returns.
 */
export async function executeTool(execution: Execution): Promise<Result<unknown, ToolFailure>> {
  const { tool, args, context, signal, timeoutMs, clock } = execution;
  const inner = new AbortController();
  const scope = { signal: inner.signal, idempotencyKey: "", progress: { report: () => {} } };
  const { promise: ended, resolve: end } = Promise.withResolvers<Result<unknown, ToolFailure>>();
  const cancel = (): void => end(CANCELLED);
  signal.addEventListener("abort", cancel, { once: true });
  const stopTimer = clock.schedule(timeoutMs, () =>
    end(
      failCall("TIMEOUT", {
        code: "timeout",
        message: `the tool did not answer within ${timeoutMs} ms`,
      }),
    ),
  );
  try {
    return await Promise.race([ended, attempt(() => tool.exec(args, context, scope))]);
  } finally {
    stopTimer();
    signal.removeEventListener("abort", cancel);
    inner.abort();
  }
}

/** Asks the tool. What it answers is no more to be trusted than what it throws. */
async function attempt(
  exec: () => Promise<Result<unknown, ToolFailure>>,
): Promise<Result<unknown, ToolFailure>> {
  try {
    const answer = await exec();
    return answer.ok ? { ok: true, value: answer.value } : fail(boundFailure(answer.failure));
  } catch {
    return TOOL_FAILED;
  }
}
