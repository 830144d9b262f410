import type { ApprovalDesk } from "../../capabilities/approval.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import {
  observeFailure,
  observePartial,
  observeSuccess,
  type ObservationFacts,
  type ObservationObject,
  type ToolFailure,
} from "../../protocol/outcome/observation.ts";
import type { Conclusion, EndingCall } from "./conclusion.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";

/** What observing takes of the run. */
export interface ObservePorts {
  readonly approvals: Pick<ApprovalDesk, "newest">;
  readonly invocations: Pick<InvocationLedger, "find">;
}

/** Builds the observation of a call: what the model and the run's readers see of its end. */
export function observe(
  ports: ObservePorts,
  {
    toolCall,
    context,
    tool,
    attempt,
    startedAtMs,
    endedAtMs,
  }: EndingCall & {
    readonly endedAtMs: number;
  },
  {
    outcome,
    dispatchState,
    expectation,
    warnings = [],
    isReplay = false,
  }: Omit<Conclusion, "invocationState">,
): ObservationObject {
  const bound = ports.invocations.find(context)?.binding;
  const facts: ObservationFacts = {
    name: toolCall.name,
    version: tool?.version ?? bound?.version ?? "unknown",
    toolCallId: context.toolCallId,
    traceId: context.runId,
    startedAtMs,
    endedAtMs,
    isReplay,
    attempt: attempt ?? 1,
    isVerificationRequired: tool?.isVerificationRequired ?? false,
    verificationDelaySeconds: tool?.verificationDelaySeconds ?? 0,
    // A result that a hook withholds would be told by the state that it leads to.
    expected: outcome.ok ? expectation?.shown : undefined,
    state: dispatchState,
    warnings: [
      ...(outcome.ok ? outcome.value.warnings : []),
      ...warnings,
      ...describeAnswer(ports, context),
      ...describeEdit(ports, context),
      ...(tool ? deprecationOf(tool) : []),
      ...(outcome.ok ? [] : describeFault(outcome.failure)),
    ],
  };
  if (!outcome.ok) return observeFailure(facts, outcome.failure);
  const { data, isPartial } = outcome.value;
  return isPartial ? observePartial(facts, data) : observeSuccess(facts, data);
}

/** Longest arguments that the note of an edit repeats. Unit: UTF-16 code units. */
const MAX_EDITED_CHARS = 4_096;

/** Tells the model what a person answered. The model's own call does not hold it. */
function describeAnswer(
  { invocations }: ObservePorts,
  context: ToolInvocationContext,
): readonly string[] {
  const { answer } = invocations.find(context) ?? {};
  if (!answer) return [];
  const given = JSON.stringify(answer);
  const what = given.length > MAX_EDITED_CHARS ? "" : `: ${given}`;
  return [`the person was asked before this call, and answered${what}`];
}

/** Tells the model of a person's edit. The model's own call still holds the old arguments. */
function describeEdit(
  { approvals, invocations }: ObservePorts,
  context: ToolInvocationContext,
): readonly string[] {
  const { number } = invocations.find(context) ?? {};
  const newest = number === undefined ? undefined : approvals.newest(number);
  if (newest?.isEdited !== true || newest.status !== "approved") return [];
  const shown = JSON.stringify(newest.packet.arguments.shown);
  const what = shown.length > MAX_EDITED_CHARS ? "" : `. It ran with ${shown}`;
  return [`a person changed the arguments of this call before they approved it${what}`];
}

const LOGGED = "the error is logged as ";

/** Tells whether a warning names a line of the log. */
export function isAboutLog(warning: string): boolean {
  return warning.startsWith(LOGGED);
}

/** Tells people under which id the operator finds the error. */
function describeFault({ errorId }: ToolFailure): readonly string[] {
  return errorId === undefined ? [] : [`${LOGGED}${errorId}`];
}

function deprecationOf({ lifecycle }: BoundToolRuntime): readonly string[] {
  if (lifecycle.status !== "deprecated") return [];
  const until = lifecycle.sunsetDate === null ? "" : ` and ends on ${lifecycle.sunsetDate}`;
  const instead = lifecycle.replacement === null ? "" : `; use ${lifecycle.replacement} instead`;
  return [`this version of the tool is deprecated${until}${instead}`];
}
