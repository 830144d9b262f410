import type { Clock } from "../../capabilities/system.ts";
import type { ToolCallId } from "../../protocol/identity/ids.ts";
import type { InvocationEnd, ToolExecResult } from "../../protocol/invocation/record.ts";
import type { InvocationState } from "../../protocol/invocation/state.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { NOT_DISPATCHED, respond } from "../../protocol/outcome/response-vector.ts";
import { fail } from "../../protocol/outcome/result.ts";
import { toolErrorCode } from "../../protocol/outcome/taxonomy.ts";
import type { EndingCall } from "./conclusion.ts";
import { observe, type ObservePorts } from "./observe.ts";

/** Builds the result of a call from its recorded end. */
export function toExecResult(
  toolCallId: ToolCallId,
  state: InvocationState,
  { observation, content, response, errorCode }: InvocationEnd,
): ToolExecResult {
  const ok = !observation.status.is_error;
  const { data } = observation.result_payload;
  return {
    toolCallId,
    ok,
    ...(ok && data && { value: data }),
    ...(errorCode && { errorCode }),
    observation,
    ...(content && { content }),
    response,
    state,
  };
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

/** Answers a call with a failure. Contract: records nothing. */
export function answerUnrecorded(
  ports: ObservePorts & { readonly clock: Pick<Clock, "nowMs"> },
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

/** The compact code of a failure (seeds/000). */
export function errorCodeOf(failure: ToolFailure): NonNullable<ToolExecResult["errorCode"]> {
  return failure.errorCode ?? toolErrorCode(failure.taxonomyClass);
}
