import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";

/**
 * Tells whether a call is a step that only its saga undoes: the saga goes on, or has undone the
 * step. Threat: a person and the saga undo one step under two keys. `find` reads a record by its
 * number.
 */
export function isHeldBySaga(
  { saga, state, undo }: ToolInvocationRecord,
  find: (number: number) => ToolInvocationRecord | undefined,
): boolean {
  if (!saga) return false;
  const hasEnded = find(saga.number)?.end !== undefined;
  return !hasEnded || (state === "COMPENSATED" && !undo);
}
