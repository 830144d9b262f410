import { fillTemplate } from "../protocol/assistant/template.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import { CONTEXT_INVALID, type RunEnd } from "./run-end.ts";
import type { RunScope } from "./run-scope.ts";

/**
 * Builds the messages that stand before the conversation: the assistant's instructions.
 * Fails: the run's end, when a variable of the instructions has no value.
 */
export function buildPrompt({
  instructions = "",
  principal,
}: RunClaim): Result<readonly TranscriptMessage[], RunEnd> {
  const filled = fillTemplate(instructions, { principal, context: new Map() });
  if (filled === undefined) return fail(CONTEXT_INVALID);
  return ok(filled.trim() === "" ? [] : [{ role: "system", text: filled }]);
}

/** Lists the messages that the model sees now. */
export function messagesShown({
  prompt,
  state,
}: Pick<RunScope, "prompt" | "state">): readonly TranscriptMessage[] {
  const { messages } = state.transcript;
  return prompt.ok && prompt.value.length > 0 ? [...prompt.value, ...messages] : messages;
}
