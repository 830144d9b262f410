import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { MAX_TOOL_CALL_ID_CHARS, type ToolCallId } from "../../protocol/identity/ids.ts";
import type { SagaLink } from "../../protocol/tool/call.ts";

const STEP = /~[su]\d+$/;
const LONGEST_ENDING = "~s16".length;

/** Derives the id of a step's call from the id of the saga's call: the same in every attempt. */
export function stepCallIdOf(
  { toolCallId, number }: Pick<ToolInvocationRecord, "toolCallId" | "number">,
  { step, compensates }: Pick<SagaLink, "step" | "compensates">,
): ToolCallId {
  const fits = toolCallId.length + LONGEST_ENDING <= MAX_TOOL_CALL_ID_CHARS;
  const stem = fits ? toolCallId : `saga_${number}`;
  return `${stem}~${compensates ? "u" : "s"}${step}` as ToolCallId;
}

/** Tells whether an id looks like that of a saga's step. A model's call never has such an id. */
export function isStepCallId(toolCallId: string): boolean {
  return STEP.test(toolCallId);
}
