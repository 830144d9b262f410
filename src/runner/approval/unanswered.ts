import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { fieldsOf } from "../../protocol/approval/question.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { JsonObject } from "../../protocol/json/value.ts";

/**
 * Tells whether the person may still be asked about a call. What undoes a call has fixed arguments,
 * and a call that has begun is bound to its own.
 */
export function mayAsk({
  answer,
  origin,
  saga,
  binding,
  dispatches,
}: Pick<ToolInvocationRecord, "answer" | "origin" | "saga" | "binding" | "dispatches">): boolean {
  return !answer && origin !== "undo" && !saga?.compensates && !binding && dispatches === 0;
}

/** Lists the fields that a person would answer and that the arguments do not hold yet. */
export function unansweredIn(
  { ask }: Pick<BoundToolRuntime, "ask">,
  args: JsonObject,
): readonly string[] {
  return fieldsOf(ask?.formSchema ?? {})
    .map(([name]) => name)
    .filter((name) => !Object.hasOwn(args, name));
}
