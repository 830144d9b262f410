import { failCall } from "../../protocol/outcome/failures.ts";
import type { Budget } from "../../protocol/budget/amounts.ts";
import type { FieldError, ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail } from "../../protocol/outcome/result.ts";
import { isFailureClass } from "../../protocol/outcome/taxonomy.ts";
import { cutText, replaceHalves } from "../../protocol/text/whole-characters.ts";

/** Bounds of a tool's own failure, which goes to the log, the reader and the model. */
const MAX_ERRORS = 16;
const MAX_MESSAGE_CHARS = 500;
const MAX_NAME_CHARS = 256;

/**
 * Keeps a tool's own failure within bounds, and its texts in whole characters. `clean` sees each
 * text before the text is cut, because a cut may leave half of what has to be masked.
 * Contract: throws for a value that is not a ToolFailure.
 */
export function boundFailure(
  { taxonomyClass, errors, retryAfterMs, notCommitted }: ToolFailure,
  clean: (text: string) => string,
): ToolFailure {
  return {
    taxonomyClass: isFailureClass(taxonomyClass) ? taxonomyClass : "UNKNOWN_ERROR",
    ...(isDelay(retryAfterMs) && { retryAfterMs }),
    ...(notCommitted === true && { notCommitted }),
    errors: errors.slice(0, MAX_ERRORS).map((error) => boundError(error, clean)),
  };
}

/** Keeps one error of foreign code within bounds. `clean` as above. */
export function boundError(
  { field, message, code }: FieldError,
  clean: (text: string) => string = (text) => text,
): FieldError {
  return {
    field: field === null ? null : cutText(clean(replaceHalves(field)), MAX_NAME_CHARS),
    message: cutText(clean(replaceHalves(message)), MAX_MESSAGE_CHARS),
    code: cutText(clean(replaceHalves(code)), MAX_NAME_CHARS),
  };
}

function isDelay(value: number | undefined): value is number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value);
}

/** Failure of a call whose run was cancelled, or ran out of time, before the tool answered. */
export const CANCELLED = failCall("cancelled");

/** Failure of a call that a gate ends because its contract asks for what it may not have. */
export const TOOL_FAILED = failCall("tool_failed");

/** Failure of a call in which something threw. The error itself stands in the log alone. */
export function toolFailed(errorId: string): ReturnType<typeof failCall> {
  return fail({ ...TOOL_FAILED.failure, errorId });
}

/** Refuses a call because a budget of the run or of its tenant has no room for it. */
export function refuseExhausted(
  whose: "run" | "tenant",
  budget: Budget,
): ReturnType<typeof failCall> {
  const message = `this call would exceed what is left of the ${whose}'s ${budget} budget`;
  const { failure } = failCall("budget_exhausted", message);
  return fail(
    whose === "run" ? failure : { ...failure, endedBy: { who: whose, exhausted: budget } },
  );
}
