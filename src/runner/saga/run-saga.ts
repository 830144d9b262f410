import { failCall } from "../../protocol/outcome/failures.ts";
import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type {
  ShownBefore,
  ToolExecResult,
  ToolInvocationContext,
  ToolInvocationRecord,
} from "../../protocol/invocation/record.ts";
import { classesOfResults, sourcesOfResults } from "../../protocol/label/of-results.ts";
import { joinSources } from "../../protocol/label/source.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { SagaLink } from "../../protocol/tool/call.ts";
import { mutates, type RequestedCall } from "../active-call.ts";
import { findTool, type LookupPorts } from "../gates/lookup-tool.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import type { NormalOutput } from "../output/normalise-output.ts";
import { WAITING } from "../waiting.ts";
import { writeArguments } from "../author-code/write-arguments.ts";
import { concludeSaga, type ConcludePorts } from "./conclude-saga.ts";
import {
  isUnknown,
  outputsOf,
  type LeftStep,
  type MadeStep,
  type Progress,
  type RunningSaga,
} from "./progress.ts";
import { stepCallIdOf } from "./step-call-id.ts";

/** What running a saga takes of the run. */
export interface SagaPorts extends LookupPorts, ConcludePorts {
  readonly invocations: Pick<
    InvocationLedger,
    "find" | "admit" | "compensated" | "undoFailed" | "ofStep"
  >;
  readonly journal: Pick<RunJournal, "append">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly undoWaitMs: number;
  /** Hands out the next part number of the run's events. */
  readonly nextPart: () => number;
  /** Takes a step's call through every gate; see ToolRunner. */
  readonly execStep: (call: RequestedCall) => Promise<ToolExecResult | typeof WAITING>;
}

/**
 * Makes the steps of a saga in their order, each as an invocation of its own, through every gate.
 * When a step fails or the run is stopped, undoes the steps before it in reverse order, back to a
 * step that cannot be undone. It goes on where an earlier incarnation stopped: the
 * records of its steps say how far it came.
 * Contract: once a step is being undone, no further step is made, in no incarnation.
 */
export async function runSaga(
  ports: SagaPorts,
  saga: RunningSaga,
): Promise<Result<NormalOutput, ToolFailure> | typeof WAITING> {
  const progress = await makeSteps(ports, saga);
  if (progress === WAITING) return WAITING;
  const { made, failed } = progress;
  if (!failed) return concludeSaga(ports, saga, { progress, left: [] });
  // A pivot with an unknown outcome may have happened, so the steps before it stay.
  const isUnknownPivot = failed.isPivot && isUnknown(failed);
  const left = isUnknownPivot ? made : await undoSteps(ports, saga, made);
  return left === WAITING ? WAITING : concludeSaga(ports, saga, { progress, left });
}

async function makeSteps(ports: SagaPorts, saga: RunningSaga): Promise<Progress | typeof WAITING> {
  const made: MadeStep[] = [];
  for (const [index, { toolId }] of saga.plan.steps.entries()) {
    const step = index + 1;
    const tool = findTool(ports, toolId);
    const isPivot = tool?.compensation.semantics === "irreversible_pivot";
    const asked = askForStep(ports, saga, { step, made });
    if (!asked.ok) return { made, failed: { step, toolId, isPivot, failure: asked.failure } };
    const ended = await execCall(ports, saga, asked.value);
    if (ended === WAITING) return WAITING;
    const record = ports.invocations.find(asked.value) ?? asked.value;
    const isRead = record.binding?.mutates === false;
    if (record.state === "COMPLETED" || record.state === "COMPENSATED") {
      made.push({ step, record, isRead });
    }
    if (!ended.ok) {
      return { made, failed: { step, toolId, isPivot, record, failure: failureOf(ended) } };
    }
  }
  return { made };
}

/** Finds the record of a step, or admits its call. Fails: no further step may begin. */
function askForStep(
  ports: SagaPorts,
  saga: RunningSaga,
  { step, made }: { readonly step: number; readonly made: readonly MadeStep[] },
): Result<ToolInvocationRecord, ToolFailure> {
  const link: SagaLink = { number: saga.record.number, step };
  const known = findCall(ports, saga, link);
  if (known) return ok(known);
  if (saga.signal.aborted || isBeingUndone(ports, saga)) return STOPPED;
  if (!saga.args.ok) return saga.args;
  const planned = saga.plan.steps[step - 1];
  if (!planned) return STOPPED;
  try {
    const { toolId } = planned;
    const text = writeArguments(planned.arguments(saga.args.value, outputsOf(made)));
    if (text !== undefined) {
      const earlier = made.map(({ record }) => record);
      const after = joinSources(saga.record.after ?? [], sourcesOfResults(earlier));
      const shownData = [...(saga.record.shownData ?? []), ...classesOfResults(earlier)];
      return ok(admitCall(ports, saga, { link, toolId, text, after, shownData }));
    }
  } catch (thrown) {
    const about = { toolId: saga.tool.id, toolVersion: saga.tool.version };
    const errorId = ports.log.fault("call_failed", thrown, about);
    return fail({ ...NO_ARGUMENTS.failure, errorId });
  }
  return NO_ARGUMENTS;
}

const STOPPED = failCall("cancelled", "the run was stopped before this step");

const NO_ARGUMENTS = failCall("no_step_arguments");

/**
 * Undoes steps, the last one first. Answers the steps that stay: the first that cannot be undone,
 * and all before it, on which it may depend.
 */
async function undoSteps(
  ports: SagaPorts,
  saga: RunningSaga,
  made: readonly MadeStep[],
): Promise<readonly LeftStep[] | typeof WAITING> {
  const written = made.filter(({ isRead }) => !isRead);
  for (const [index, last] of [...written.entries()].toReversed()) {
    const { step, record } = last;
    const stay = (failure?: ToolFailure): readonly LeftStep[] => {
      const stuck = failure ? { ...last, failure } : last;
      return [...written.slice(0, index), stuck];
    };
    const { toolId, args } = record.end?.compensation ?? {};
    if (toolId === undefined || !args) return stay();
    const link: SagaLink = { number: saga.record.number, step, compensates: true };
    const text = JSON.stringify(args);
    const call = findCall(ports, saga, link) ?? admitCall(ports, saga, { link, toolId, text });
    const ended = await execCall(ports, saga, call);
    if (ended === WAITING) return WAITING;
    if (!ended.ok) {
      const untilMs = ports.clock.nowMs() + ports.undoWaitMs;
      ports.invocations.undoFailed(record, { runId: saga.context.runId, untilMs });
      return stay(failureOf(ended));
    }
    ports.invocations.compensated(record);
  }
  return [];
}

function findCall(
  { invocations }: SagaPorts,
  { record, context: { step } }: RunningSaga,
  link: SagaLink,
): ToolInvocationRecord | undefined {
  return invocations.find({ step, toolCallId: stepCallIdOf(record, link) });
}

/** Admits the call of a step and shows it to readers. */
function admitCall(
  { invocations, journal, clock, nextPart, versions }: SagaPorts,
  { record, context }: RunningSaga,
  asked: ShownBefore & { readonly link: SagaLink; readonly toolId: string; readonly text: string },
): ToolInvocationRecord {
  const { link: saga, toolId: name, text: argumentsText, ...shown } = asked;
  const toolCallId = stepCallIdOf(record, saga);
  const part = nextPart();
  const call = { toolCallId, name, argumentsText, truncated: false, saga };
  const { title } = versions.get(name) ?? {};
  const named = { toolName: name, ...(title !== undefined && { title }) };
  journal.append([{ type: "tool_call_proposed", part, toolCallId, ...named }]);
  return invocations.admit(call, { step: context.step, part, ...shown }, clock.nowMs());
}

/**
 * Executes the call of a step. A stopped run lets it end; only a call that waits is given up,
 * because nobody can answer any more.
 */
async function execCall(
  { execStep }: SagaPorts,
  { context, signal }: RunningSaga,
  toolCall: ToolInvocationRecord,
): Promise<ToolExecResult | typeof WAITING> {
  const { toolCallId, part } = toolCall;
  const call = { toolCall, context: { ...context, toolCallId, part } };
  const ended = await execStep({ ...call, signal: new AbortController().signal });
  return ended === WAITING && signal.aborted ? execStep({ ...call, signal }) : ended;
}

function isBeingUndone({ invocations }: SagaPorts, { record, context }: RunningSaga): boolean {
  return invocations
    .ofStep(context.step)
    .some(({ saga }) => saga?.number === record.number && saga.compensates === true);
}

/** Reads from its observation why a step failed. */
function failureOf({ observation, response }: ToolExecResult): ToolFailure {
  const { errors } = observation.result_payload;
  const { error_code: taxonomyClass } = response;
  const isFailure = taxonomyClass !== "SUCCESS" && taxonomyClass !== "PARTIAL_SUCCESS";
  return { taxonomyClass: isFailure ? taxonomyClass : "UNKNOWN_ERROR", errors };
}

/** Tells whether a call is that of a saga which was dispatched: it goes on with its steps. */
export function isRunningSaga(
  { invocations }: Pick<SagaPorts, "invocations">,
  { tool, context }: { readonly tool: BoundToolRuntime; readonly context: ToolInvocationContext },
): boolean {
  return (
    tool.saga !== undefined && mutates(tool) && (invocations.find(context)?.dispatches ?? 0) > 0
  );
}
