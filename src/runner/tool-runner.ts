import type { Clock } from "../capabilities/clock.ts";
import type { RunJournal } from "../capabilities/run-journal.ts";
import type { BoundToolRuntime, ToolSourcePort } from "../capabilities/tool-source.ts";
import type { JsonObject } from "../protocol/json.ts";
import {
  observeFailure,
  observeSuccess,
  type ObservationFacts,
  type ToolFailure,
} from "../protocol/observation.ts";
import type { Result } from "../protocol/result.ts";
import { toolErrorCode } from "../protocol/taxonomy.ts";
import type { ToolCall } from "../protocol/tool-call.ts";
import type { ToolExecResult, ToolInvocationContext } from "../protocol/tool-invocation.ts";
import type { ToolPolicy } from "../protocol/tool-policy.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";
import { checkPolicy } from "./gates/check-policy.ts";
import { executeTool } from "./gates/execute-tool.ts";
import { lookupTool } from "./gates/lookup-tool.ts";
import { normaliseOutput } from "./gates/normalise-output.ts";
import { parseCall } from "./gates/parse-call.ts";
import { CANCELLED, TOOL_FAILED } from "./tool-failure.ts";

/** What the runner stands on; bound once per run. */
export interface ToolRunnerPorts {
  readonly source: ToolSourcePort;
  /** The version of each tool that the run uses. */
  readonly versions: ReadonlyMap<string, ToolSpec>;
  /** The policy the run pinned. */
  readonly policy: ToolPolicy;
  readonly journal: RunJournal;
  readonly clock: Clock;
}

export interface ToolRunner {
  /**
   * Takes one tool call through every gate, in the order of the design's pipeline: the only way a
   * tool runs (seeds/000 #1, #31).
   * Contract: never throws; records each call once and ends it with exactly one `tool_call_result`
   * under the call's own id, whatever happens.
   */
  exec(
    call: ToolCall,
    context: ToolInvocationContext,
    signal: AbortSignal,
  ): Promise<ToolExecResult>;
}

/** Builds the runner of one run. */
export function createToolRunner(ports: ToolRunnerPorts): ToolRunner {
  return {
    async exec(call, context, signal) {
      const startedAtMs = ports.clock.nowMs();
      const attempt: Attempt = { ports, call, context, signal };
      let passage: Passage;
      try {
        passage = await passGates(attempt);
      } catch {
        // A schema or a redaction of an author broke; the call ends like any other.
        passage = { outcome: TOOL_FAILED };
      }
      return conclude(attempt, startedAtMs, passage);
    },
  };
}

interface Attempt {
  readonly ports: ToolRunnerPorts;
  readonly call: ToolCall;
  readonly context: ToolInvocationContext;
  readonly signal: AbortSignal;
}

/** How far a call came: what is known of its tool and arguments, and how it ended. */
interface Passage {
  readonly tool?: BoundToolRuntime;
  /** Redacted. */
  readonly args?: JsonObject;
  readonly outcome: Result<JsonObject, ToolFailure>;
}

async function passGates({ ports, call, context, signal }: Attempt): Promise<Passage> {
  const { source, versions, policy, journal, clock } = ports;

  const found = lookupTool(source, versions, call.name);
  if (!found.ok) return { outcome: found };
  const tool = found.value;

  const allowed = checkPolicy(policy, tool);
  if (!allowed.ok) return { tool, outcome: allowed };

  const parsed = parseCall(call, tool);
  if (!parsed.ok) return { tool, outcome: parsed };

  const valid = tool.validateInput(parsed.value);
  if (!valid.ok) return { tool, outcome: valid };

  const args = tool.redactArgs(valid.value);
  if (signal.aborted) return { tool, args, outcome: CANCELLED };
  const { part, toolCallId } = context;
  journal.append([{ type: "tool_call_start", part, toolCallId, args }]);

  const { maxRuntimeMs, maxResultBytes } = policy.budgets;
  const timeoutMs = Math.min(tool.timeoutMs, maxRuntimeMs ?? tool.timeoutMs);
  const done = await executeTool({ tool, args: valid.value, context, signal, timeoutMs, clock });
  if (!done.ok) return { tool, args, outcome: done };

  const maxBytes = Math.min(tool.maxResultBytes, maxResultBytes ?? tool.maxResultBytes);
  const output = normaliseOutput(tool, done.value, maxBytes);
  return { tool, args, outcome: output };
}

function conclude(
  { ports, call, context }: Attempt,
  startedAtMs: number,
  { tool, args, outcome }: Passage,
): ToolExecResult {
  const endedAtMs = ports.clock.nowMs();
  const { part, toolCallId, step } = context;
  const facts: ObservationFacts = {
    name: call.name,
    version: tool?.version ?? "unknown",
    toolCallId,
    traceId: context.runId,
    startedAtMs,
    endedAtMs,
  };
  const observation = outcome.ok
    ? observeSuccess(facts, outcome.value)
    : observeFailure(facts, outcome.failure);
  const errorCode = outcome.ok ? undefined : codeOf(outcome.failure);
  ports.journal.record({
    toolCallId,
    step,
    name: call.name,
    argumentsText: call.argumentsText,
    ...(args && { args }),
    observation,
    ...(errorCode && { errorCode }),
    startedAtMs,
    endedAtMs,
  });
  ports.journal.append([{ type: "tool_call_result", part, toolCallId, observation }]);
  return {
    toolCallId,
    ok: outcome.ok,
    ...(outcome.ok && { value: outcome.value }),
    ...(errorCode && { errorCode }),
    observation,
  };
}

function codeOf(failure: ToolFailure): NonNullable<ToolExecResult["errorCode"]> {
  return failure.errorCode ?? toolErrorCode(failure.taxonomyClass);
}
