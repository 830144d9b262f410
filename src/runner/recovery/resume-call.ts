import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import {
  awaitsRetry,
  hasUnknownOutcome,
  isUnknownWrite,
  type ToolInvocationRecord,
} from "../../protocol/invocation/record.ts";
import type { ToolExecResult } from "../../protocol/invocation/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { ActiveCall, RequestedCall } from "../active-call.ts";
import type { GateResults } from "../gates/gate.ts";
import { lookupTool, type LookupPorts } from "../gates/lookup-tool.ts";
import { recordFailure, type RecordPorts } from "../record.ts";
import { WAITING } from "../waiting.ts";
import {
  awaitOperator,
  endWithoutTool,
  NO_ANSWER,
  TOOL_INTERRUPTED,
  type OperatorPorts,
} from "./unknown-outcome.ts";

/** What resuming needs from the run. */
export type ResumePorts = LookupPorts & RecordPorts & OperatorPorts;

/** How a call continues that is new, or that an earlier incarnation of the run left open. */
export type Resumed =
  | { readonly kind: "ended"; readonly result: ToolExecResult | typeof WAITING }
  | {
      readonly kind: "open";
      readonly call: ActiveCall;
      /** Present when the outcome has to be resolved before any attempt. */
      readonly resolveFirst?: ToolFailure;
    };

/** The gate results of a call whose tool does not exist, or must not be used. */
const NOT_FOUND: GateResults = { passed: [], refusedBy: "lookup" };

/**
 * Finds the tool of a call, and decides how the call continues. When an earlier incarnation
 * dispatched it, nobody knows whether it took effect. A read or an idempotent write then runs again
 * under the same idempotency key. For any other write, the outcome is resolved first.
 */
export function resumeCall(
  ports: ResumePorts,
  requested: RequestedCall,
  record: ToolInvocationRecord,
): Resumed {
  const { toolCall, context, signal } = requested;
  const { dispatches, awaitedUntilMs } = record;
  const ending = { toolCall, context, startedAtMs: ports.clock.nowMs(), attempt: dispatches };
  const saga = findSaga(ports, record);
  if (saga)
    return { kind: "open", call: { ...requested, ...ending, tool: saga, ranWith: context } };
  const closed = endWithoutTool(ports, ending, { record, isStopped: signal.aborted });
  if (closed) return ended(closed);
  if (awaitedUntilMs !== undefined) return ended(WAITING);
  const found = lookupTool(ports, toolCall);
  if (!found.ok) {
    if (!isUnknownWrite(record)) {
      const { failure } = found;
      const withoutTool = { toolCall, context, startedAtMs: ending.startedAtMs };
      return ended(recordFailure(ports, withoutTool, { failure, grounds: { gates: NOT_FOUND } }));
    }
    awaitOperator(ports, context);
    return ended(WAITING);
  }
  const { startedAtMs } = ending;
  const call = { ...requested, tool: found.value, startedAtMs, attempt: dispatches + 1 };
  if (!isUnknownWrite(record)) {
    const hasRun = hasUnknownOutcome(record) || awaitsRetry(record);
    return { kind: "open", call: hasRun ? { ...call, ranWith: context } : call };
  }
  const unknownOutcome = awaitsRetry(record) ? NO_ANSWER : TOOL_INTERRUPTED;
  const interrupted = { ...call, ranWith: context, unknownOutcome };
  return found.value.isIdempotent
    ? { kind: "open", call: interrupted }
    : {
        kind: "open",
        call: { ...interrupted, attempt: dispatches },
        resolveFirst: unknownOutcome,
      };
}

/** Finds the tool of a saga that was dispatched: its steps tell how far it came. */
function findSaga(ports: ResumePorts, record: ToolInvocationRecord): BoundToolRuntime | undefined {
  if (!isUnknownWrite(record)) return undefined;
  const found = lookupTool(ports, record);
  return found.ok && found.value.saga ? found.value : undefined;
}

function ended(result: ToolExecResult | typeof WAITING): Resumed {
  return { kind: "ended", result };
}
