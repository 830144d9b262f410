import { failCall, failField } from "../../protocol/outcome/failures.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { canNobodyApprove } from "../../protocol/approval/count-people.ts";
import { readNamedPeople, type NamingCall } from "../../protocol/approval/named-people.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { withheldPaths } from "../../protocol/json/withheld-paths.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ToolCall } from "../../protocol/tool/call.ts";
import type { BoundedTerms } from "../../runner/approval/approval-terms.ts";
import { checkRoom } from "../../runner/budget/reserve.ts";
import { readArguments } from "../../runner/gates/read-arguments.ts";
import {
  obeyBothPolicies,
  openReview,
  type ReviewedCall,
  type ReviewPorts,
} from "./open-review.ts";
import { restoreWithheld } from "./restore-withheld.ts";

/** Arguments that may replace those of a call. */
export interface ReviewedEdit {
  /** JSON of the whole arguments, including what redaction withheld from the editor. */
  readonly argumentsText: string;
  readonly payloadHash: string;
}

/**
 * Checks the arguments that an approver wants instead against the gates that look at arguments, at
 * both policies and at budgets, so that a mistake is answered to the approver and does not end the
 * call. The call's own attempt asks every gate again.
 * Contract: reserves nothing.
 * Fails: what those gates fail with; DEPENDENCY_UNAVAILABLE where a policy or the tools cannot be
 * read; STALE_STATE for a call that has begun, because it is bound to its arguments.
 */
export async function reviewEdit(
  ports: ReviewPorts,
  reviewed: ReviewedCall,
  edited: JsonObject,
): Promise<Result<ReviewedEdit, ToolFailure>> {
  const { call, record } = reviewed;
  if (call.dispatches > 0 || call.binding) return BEGUN;
  const opened = await openReview(ports, reviewed);
  if (!opened.ok) return opened;
  const { current, gatePorts, tool, trail } = opened.value;
  if (!tool) return TOOL_GONE;
  const original = await readArguments(tool, call, trail);
  if (!original.ok) return fail(original.failure.failure);
  const { withheld } = record.packet.arguments;
  const whole = restoreWithheld(edited, original.value.args, withheld);
  if (!whole.ok) return whole;
  const argumentsText = JSON.stringify(whole.value);
  const read = await readArguments(tool, { argumentsText, truncated: false }, trail);
  if (!read.ok) return fail(read.failure.failure);
  const { args, shown, payloadHash } = read.value;
  const added = withheldPaths(args, shown).find((pointer) => !withheld.includes(pointer));
  if (added !== undefined) return refuseHidden(added);
  if (isUndoing(call) && payloadHash !== record.payloadHash) return UNDOES;
  const obeyed = await obeyBothPolicies(opened.value, tool, read.value);
  if (!obeyed.ok) return obeyed;
  const { amounts, terms } = obeyed.value;
  if (terms && isForNobody(terms, { tool, args, states: record.packet })) return NOBODY_MAY;
  const context = { runId: ports.runId, step: call.step, toolCallId: call.toolCallId };
  const room = await checkRoom(gatePorts, { tool, context, amounts }, current);
  return room.ok ? ok({ argumentsText, payloadHash }) : room;
}

/** Threat: an edited undo takes back something else, and the call counts as undone. */
function isUndoing({ origin, saga }: ToolCall): boolean {
  return origin === "undo" || saga?.compensates === true;
}

/** An amount of the state is not known before that state is read for the new arguments. */
function isForNobody(
  { requirements }: Pick<BoundedTerms, "requirements">,
  { tool, ...call }: NamingCall & { readonly tool: BoundToolRuntime },
): boolean {
  if (typeof tool.amountField === "object") return false;
  const named = readNamedPeople(requirements, call);
  return canNobodyApprove({ requirements, ...(named && { named }) });
}

const NOBODY_MAY = failCall("nobody_may_approve");
const UNDOES = failCall("undoes");
const BEGUN = failCall("begun");
const TOOL_GONE = failCall("tool_gone");

/** Threat: an editor, whose own vote counts, adds values that later approvers do not see. */
function refuseHidden(field: string): Result<never, ToolFailure> {
  const message = "this field is not shown to other approvers, so it may not be added";
  return failField(field, "withheld_field", message);
}
