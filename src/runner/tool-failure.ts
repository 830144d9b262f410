import type { FieldError, ToolFailure } from "../protocol/observation.ts";
import { fail } from "../protocol/result.ts";

/** Words a failure that concerns the whole call, not one field of it. */
export function failCall(
  taxonomyClass: ToolFailure["taxonomyClass"],
  error: Omit<FieldError, "field">,
): { readonly ok: false; readonly failure: ToolFailure } {
  return fail({ taxonomyClass, errors: [{ field: null, ...error }] });
}
