import type { ToolCallId } from "../../protocol/identity/ids.ts";
import { NO_USAGE } from "../../protocol/model/usage.ts";
import type { DirectCall } from "../../protocol/run/direct-call.ts";
import type { RecordedAnswer } from "../../protocol/run/facts.ts";
import { proposeCalls } from "./execute-calls.ts";
import type { RunScope } from "../run-scope.ts";

/**
 * Proposes the one call of a run without a model, in place of a model's answer. From here on the
 * call takes the way of every tool call.
 */
export function proposeDirectCall(
  scope: RunScope,
  { toolId, argumentsText, undoes }: DirectCall,
  step: number,
): RecordedAnswer {
  const answer: RecordedAnswer = { step, modelCall: 0, finish: "stop", usage: NO_USAGE };
  scope.journal.note({ answer });
  const asked = { toolCallId: "" as ToolCallId, name: toolId, argumentsText, truncated: false };
  const [call] = scope.callIds.claim([asked], step);
  proposeCalls(scope, {
    step,
    calls: call ? [{ ...call, origin: undoes ? "undo" : "direct" }] : [],
  });
  return answer;
}
