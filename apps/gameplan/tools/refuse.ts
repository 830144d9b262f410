import { fail, type FailureClass, type ToolFailure } from "interlock-edge/tools";

/** How a tool of GamePlan refuses a call, and the class of it (seeds/003, result codes). */
export const REFUSALS = {
  /** There is no such row, or it is in the bin, or another workspace has it. */
  not_found: "SEMANTIC_INVALIDITY",
  /** The arguments do not make sense together, or with what is stored. */
  validation: "SEMANTIC_INVALIDITY",
  /** Something else has the name, or the state forbids the change. */
  conflict: "SEMANTIC_INVALIDITY",
  /** Only the author may do this. */
  forbidden: "PERMISSION_DENIED",
  /** The row changed since the caller read it. */
  stale: "STALE_STATE",
} as const satisfies Readonly<Record<string, FailureClass>>;

export type RefusalCode = keyof typeof REFUSALS;

/**
 * Refuses a call. `why` is a sentence for the people who read it on a page, and for the model. It
 * names rows by their names, and says what can be done.
 * Threat: a name is a text of others. The output of GamePlan's tools is marked as untrusted, so the
 * texts of their failures are neutralised like their results.
 */
export function refuse(
  code: RefusalCode,
  why: string,
  field: string | null = null,
): { readonly ok: false; readonly failure: ToolFailure } {
  return fail({
    taxonomyClass: REFUSALS[code],
    errors: [{ field, code, message: why }],
  });
}
