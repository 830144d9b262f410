import { failCall } from "../../protocol/outcome/failures.ts";
import { findForeignChoices } from "../../protocol/approval/question.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { parseArguments } from "../../protocol/tool/call.ts";
import { openEdit, reviewArguments, type ReviewedEdit } from "./edit.ts";
import type { ReviewedCall, ReviewPorts } from "./open-review.ts";

/** An answer, and the arguments that it completes. */
export interface ReviewedAnswer extends ReviewedEdit {
  readonly answer: JsonObject;
}

/**
 * Checks an answer against the form and the choices of its question, and the completed arguments
 * as those of an edit. So a mistake is answered to the person and does not end the call.
 * Threat: an answer brings a value past the schema, or past a rule of the policy.
 * Contract: reserves nothing. Fails: what the form and `reviewArguments` fail with.
 */
export async function reviewAnswer(
  ports: ReviewPorts,
  reviewed: ReviewedCall,
  given: JsonObject,
): Promise<Result<ReviewedAnswer, ToolFailure>> {
  const { call, record } = reviewed;
  // The rules of the policies see the answer, as they do when the call comes back.
  const answered = { ...call, answer: given };
  const invocations = ports.invocations.map((one) => (one.number === call.number ? answered : one));
  const opened = await openEdit({ ...ports, invocations }, { call: answered, record });
  if (!opened.ok) return opened;
  const { tool } = opened.value;
  const { question } = record.packet;
  if (!tool.ask || !question) return failCall("tool_gone");
  const read = tool.ask.readAnswer(given);
  if (!read.ok) return read;
  const { value: answer } = read;
  const errors = findForeignChoices(question, answer);
  if (errors.length > 0) return fail({ taxonomyClass: "OUT_OF_BOUNDS", errors });
  const proposed = parseArguments(call);
  if (!proposed.ok) return failCall(proposed.failure.code);
  const argumentsText = JSON.stringify({ ...proposed.value, ...answer });
  const passed = await reviewArguments(opened.value, argumentsText);
  return passed.ok ? ok({ ...passed.value, answer }) : passed;
}
