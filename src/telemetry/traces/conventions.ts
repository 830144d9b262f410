import type { ApprovalId } from "../../protocol/identity/ids.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { ModelFinish } from "../../protocol/model/event.ts";
import type { Usage } from "../../protocol/model/usage.ts";
import type { TracedCall, TracedRun } from "./traced-run.ts";
import type { Attributes } from "./span.ts";

/*
 * Every name that a span has: those of semantic-conventions-genai v0.1.0, whose status is
 * Development, and beside them those of seeds/004, "Observability", under `interlock.`.
 */

/** Attributes of the span of a run. */
export function runAttributes(run: TracedRun): Attributes {
  const { usage, error } = run;
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": run.assistantId,
    "gen_ai.request.model": run.modelOf(run.model)?.name,
    "gen_ai.conversation.id": run.conversationId,
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "error.type": error?.code,
    "interlock.run.id": run.runId,
    "interlock.run.reason": run.reason,
    "interlock.run.interruptions": run.interruptions,
    "interlock.tenant.id": run.tenantId,
  };
}

/** A step in which a model was asked. */
export interface TracedStep {
  readonly step: number;
  /** The id of the model that answered. */
  readonly model: string;
  /** Absent: the step did not finish. */
  readonly finish?: ModelFinish;
  readonly usage?: Usage;
}

/** Attributes of the span of a model's answer; a zero of a detail says nothing. */
export function chatAttributes({ model, finish, usage }: TracedStep, run: TracedRun): Attributes {
  const { name = model, wire } = run.modelOf(model) ?? {};
  const isFailed = finish === undefined || finish === "error";
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": wire === "anthropic" ? wire : "openai",
    "gen_ai.request.model": name,
    "gen_ai.request.stream": true,
    "gen_ai.conversation.id": run.conversationId,
    "gen_ai.response.finish_reasons": finish && [finish],
    "gen_ai.usage.input_tokens": usage?.inputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage?.cachedInputTokens,
    "gen_ai.usage.cache_write.input_tokens": usage?.cacheWriteTokens,
    "gen_ai.usage.output_tokens": usage?.outputTokens,
    "gen_ai.usage.reasoning.output_tokens": usage?.reasoningTokens,
    "error.type": isFailed ? (run.error?.code ?? run.reason) : undefined,
  };
}

/** Attributes of the span of a call. */
export function callAttributes(record: ToolInvocationRecord, call: TracedCall): Attributes {
  const { toolCallId, binding, end } = record;
  const { status, execution_metadata: executed } = end?.observation ?? {};
  const failure = end ? (status?.is_error ? status.taxonomy_class : undefined) : "UNFINISHED";
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": call.toolName,
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": toolCallId,
    "error.type": failure,
    "interlock.tool.version": binding?.version,
    "interlock.tool.side_effect_class": call.tool?.sideEffectClass,
    "interlock.tool.validation.status": call.validation,
    "interlock.tool.error_code": status?.is_error ? status.taxonomy_class : undefined,
    "interlock.tool.retryable": end?.response.retryable,
    "interlock.tool.repairable": end?.response.repairable,
    "interlock.tool.attempts": executed?.attempt_number,
    "interlock.tool.idempotency_key_hash": call.keyHash,
    "interlock.tool.approval_id": call.requests.at(-1)?.id,
    "interlock.tenant.id": call.tenantId,
    "interlock.trace.replayable": end !== undefined && (!end.lesson?.begun || !!binding),
    ...Object.fromEntries(
      call.named.map(([name, value]) => [`interlock.tool.attribute.${name}`, value]),
    ),
  };
}

/** A wait for people: what it was for, and how it ended. */
export interface TracedWait {
  readonly approvalId?: ApprovalId;
  readonly asks: string;
  /** Absent: the run ended meanwhile. */
  readonly status: string | undefined;
}

/** Attributes of the span of a wait for people. */
export function waitAttributes({ approvalId, asks, status }: TracedWait): Attributes {
  return {
    "interlock.wait.for": asks,
    "interlock.wait.end": status,
    "interlock.tool.approval_id": approvalId,
  };
}
