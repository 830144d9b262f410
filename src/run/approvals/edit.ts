import { failCall, failField } from "../../protocol/outcome/failures.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { canNobodyApprove } from "../../protocol/approval/count-people.ts";
import { readNamedPeople, type NamingCall } from "../../protocol/approval/named-people.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
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
  type Review,
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
  const opened = await openEdit(ports, reviewed);
  if (!opened.ok) return opened;
  const { call, record, tool, trail } = opened.value;
  const original = await readArguments(tool, call, trail);
  if (!original.ok) return fail(original.failure.failure);
  const whole = restoreWithheld(edited, original.value.args, record.packet.arguments.withheld);
  return whole.ok ? reviewArguments(opened.value, JSON.stringify(whole.value)) : whole;
}

/** A call that may get other arguments. */
export interface OpenEdit extends Review {
  readonly tool: BoundToolRuntime;
  readonly runId: RunId;
}

/**
 * Opens the review of a call that may get other arguments. Fails: STALE_STATE for a call that has
 * begun; what `openReview` fails with; POLICY_VIOLATION where the deployment lost the tool.
 */
export async function openEdit(
  ports: ReviewPorts,
  reviewed: ReviewedCall,
): Promise<Result<OpenEdit, ToolFailure>> {
  const { call } = reviewed;
  if (call.dispatches > 0 || call.binding) return BEGUN;
  const opened = await openReview(ports, reviewed);
  if (!opened.ok) return opened;
  const { tool } = opened.value;
  return tool ? ok({ ...opened.value, tool, runId: ports.runId }) : TOOL_GONE;
}

/**
 * Checks whole arguments that a person gives a call. Contract: reserves nothing.
 * Fails: what the gates that look at arguments fail with; SEMANTIC_INVALIDITY where approvers would
 * not see a value; PERMISSION_DENIED where nobody could approve them.
 */
export async function reviewArguments(
  opened: OpenEdit,
  argumentsText: string,
): Promise<Result<ReviewedEdit, ToolFailure>> {
  const { call, current, gatePorts, record, runId, tool, trail } = opened;
  const { withheld } = record.packet.arguments;
  const read = await readArguments(tool, { argumentsText, truncated: false }, trail);
  if (!read.ok) return fail(read.failure.failure);
  const { args, shown, payloadHash } = read.value;
  const added = withheldPaths(args, shown).find((pointer) => !withheld.includes(pointer));
  if (added !== undefined) return refuseHidden(added);
  if (isUndoing(call) && payloadHash !== record.payloadHash) return UNDOES;
  const obeyed = await obeyBothPolicies(opened, tool, read.value);
  if (!obeyed.ok) return obeyed;
  const { amounts, terms } = obeyed.value;
  if (terms && isForNobody(terms, { tool, args, states: record.packet })) return NOBODY_MAY;
  const context = { runId, step: call.step, toolCallId: call.toolCallId };
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
