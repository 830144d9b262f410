import type { ApprovalDesk } from "../capabilities/approval.ts";
import type { ImageKeeper } from "../capabilities/files.ts";
import type { RunJournal } from "../capabilities/run-journal.ts";
import { issueTicket } from "../contracts/bind/dispatch-ticket.ts";
import type { ApprovalRecord } from "../protocol/approval/record.ts";
import type { KeptResult } from "../protocol/outcome/kept-result.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { mutates } from "./active-call.ts";
import { askTool, type AskPorts } from "./author-code/ask-tool.ts";
import type { Attempt } from "./attempt.ts";
import type { ValiditySubject } from "./gates/subjects.ts";
import { checkStillWanted, type WantedPorts } from "./gates/check-still-wanted.ts";
import type { InvocationLedger } from "./invocation/invocation-ledger.ts";
import { identifyImages } from "./output/content.ts";
import { runSaga, type SagaPorts } from "./saga/run-saga.ts";
import { asRead } from "./outcome/is-untrusted.ts";
import { CANCELLED } from "./outcome/tool-failure.ts";
import type { WAITING } from "./waiting.ts";
import { keepResult, type KeepPorts } from "./output/keep-result.ts";
import { refreshState } from "./output/refresh-state.ts";
import { normaliseOutput, type NormalOutput } from "./output/normalise-output.ts";

/** A call that passed every gate. */
export interface PreparedCall extends ValiditySubject {
  /** The approval that the dispatch consumes; null when the call needs none. */
  readonly approval: ApprovalRecord | null;
}

/** What executing needs from the run. */
export interface ExecutePorts extends AskPorts, WantedPorts, SagaPorts {
  readonly results?: KeepPorts["results"] | undefined;
  readonly approvals: Pick<ApprovalDesk, "consume">;
  readonly images: Pick<ImageKeeper, "identify">;
  readonly invocations: SagaPorts["invocations"] &
    Pick<InvocationLedger, "dispatch" | "isEndedByHook" | "measure">;
  readonly journal: Pick<RunJournal, "append" | "secure">;
  readonly clock: AskPorts["clock"];
  readonly policy: AskPorts["policy"];
}

/**
 * Executes a prepared call: checks again that the run wants it, records the dispatch, runs the tool
 * and normalises its output (the gates `execute` and `output`). No other function runs a tool: only
 * this file issues tickets, and test/single-path.node.test.ts enforces that.
 * Contract: may throw before the tool runs, never after. Fails: what `checkStillWanted` fails with;
 * the tool's own failures; TIMEOUT; UNKNOWN_ERROR for a tool that throws;
 * OBSERVATION_NORMALIZATION_FAIL.
 */
export async function executeCall(
  ports: ExecutePorts,
  call: PreparedCall,
  attempt: Attempt,
): Promise<Result<NormalOutput, ToolFailure> | typeof WAITING> {
  const { tool, accepted, authority, signal } = call;
  const { trail } = attempt;

  const wanted = checkStillWanted(ports, call, trail);
  if (!wanted.ok) return wanted;

  await recordDispatch(ports, call);
  // Cancelled while the record was stored: the tool has not run.
  if (signal.aborted) return trail.note("still_wanted", CANCELLED);

  attempt.markDispatched();
  const { context, scope } = authority;
  if (tool.saga) return startSaga(ports, call);
  const { id: toolId, version } = tool;
  const ticket = issueTicket({ toolId, version, args: accepted.args, context, scope });
  const perform = tool.performDispatched.bind(tool, ticket);
  const fromMs = ports.clock.nowMs();
  const answer = trail.note("execute", await askTool(ports, call, perform));
  const isMetered = tool.cost.unit === "second";
  if (isMetered) ports.invocations.measure(context, ports.clock.nowMs() - fromMs);
  if (!answer.ok) return fail(await refreshState(ports, call, answer.failure));
  const output = trail.note(
    "output",
    normaliseOutput(
      ports,
      { tool: asRead(ports, tool, context), accepted, mask: scope.mask },
      answer,
    ),
  );
  await keepResult(ports, context, keptOf(output));
  if (!output.ok) return output;
  const content = await identifyImages(ports.images, output.value.content);
  return ok({ ...output.value, content });
}

/** What of an output nobody is shown. */
function keptOf(output: Result<NormalOutput, ToolFailure>): KeptResult | undefined {
  if (output.ok) return output.value.whole;
  const { rawOutput } = output.failure;
  return rawOutput === undefined ? undefined : { kind: "raw", data: rawOutput };
}

/** Starts the steps of a saga. Each has a connection and a workspace of its own, or none. */
function startSaga(ports: ExecutePorts, call: PreparedCall): ReturnType<typeof runSaga> {
  const { tool, accepted, authority, signal } = call;
  const {
    connectionId: _,
    subjectId: _subject,
    workspaceId: _workspace,
    ...context
  } = authority.context;
  const record = ports.invocations.find(context);
  if (!tool.saga || !record) throw new Error(`${tool.id} is no dispatched saga`);
  const args = ok(accepted.args);
  return runSaga(ports, { tool, plan: tool.saga, args, record, context, signal });
}

/**
 * Records that the tool is about to act. For a mutation, and for a call that consumes an approval,
 * the record is durable before the tool acts: a crash leaves an unknown outcome, never a second
 * effect.
 */
async function recordDispatch(
  { approvals, invocations, journal, clock }: ExecutePorts,
  { tool, accepted, authority, approval }: PreparedCall,
): Promise<void> {
  const { context } = authority;
  const { part, toolCallId } = context;
  const isFirst = invocations.find(context)?.dispatches === 0;
  invocations.dispatch(context, clock.nowMs());
  if (isFirst) {
    const start = { type: "tool_call_start", part, toolCallId, toolName: tool.id } as const;
    const asked = approval && { wasAsked: true as const };
    journal.append([{ ...start, args: accepted.shown, ...asked }]);
  }
  if (approval) approvals.consume(approval.id, clock.nowMs());
  if (mutates(tool) || approval) await journal.secure();
}
