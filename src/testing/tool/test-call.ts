import type { ToolExecResult, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { FieldError, ObservationObject } from "../../protocol/outcome/observation.ts";
import type { TaxonomyClass } from "../../protocol/outcome/taxonomy.ts";
import { toExecResult } from "../../runner/outcome/exec-result.ts";

/** A tool call of a run that has not ended. It waits for approvals or for an operator. */
export interface OpenCall {
  readonly tool: string;
  readonly isOpen: true;
  /** The record of the call, with its raw arguments. */
  readonly record: ToolInvocationRecord;
}

/** A tool call that has ended. */
export interface EndedCall extends ToolExecResult {
  readonly tool: string;
  readonly isOpen: false;
  /** SUCCESS, or the class of the failure. */
  readonly taxonomyClass: TaxonomyClass;
  /** Redacted output: what the model sees. Null when the call failed. */
  readonly data: JsonObject | null;
  /** What the model is told about a failure. */
  readonly errors: readonly FieldError[];
  /** What operators read besides: which fields of the output do not fit the contract. */
  readonly detail?: string;
  readonly observation: ObservationObject;
  /** The record of the call, with its raw arguments. */
  readonly record: ToolInvocationRecord;
}

export type TestCall = OpenCall | EndedCall;

/** Reads a call from its record. */
export function toTestCall(record: ToolInvocationRecord): TestCall {
  const { name: tool, toolCallId, state, end } = record;
  if (!end) return { tool, isOpen: true, record };
  const result = toExecResult(toolCallId, state, end);
  const { status, result_payload: payload } = result.observation;
  return {
    ...result,
    tool,
    isOpen: false,
    taxonomyClass: status.taxonomy_class,
    data: payload.data,
    errors: payload.errors,
    ...(end.detail !== undefined && { detail: end.detail }),
    record,
  };
}
