import { errorOf, failCall } from "../../protocol/outcome/failures.ts";
import type { Log } from "../../capabilities/log.ts";
import { invocationIdOf } from "../../protocol/invocation/id.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { FieldError, ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { maskValues } from "../../protocol/secrets/mask-values.ts";
import { normaliseOutput, type NormalOutput } from "../output/normalise-output.ts";
import {
  isUnknown,
  outputsOf,
  type FailedStep,
  type LeftStep,
  type MadeStep,
  type Progress,
  type RunningSaga,
} from "./progress.ts";

/** What concluding takes of the run. */
export interface ConcludePorts {
  readonly policy: Pick<ToolPolicy, "budgets">;
  readonly log: Log;
}

/** How a saga ended, and which steps stay although it failed. */
interface EndedSaga {
  readonly progress: Progress;
  readonly left: readonly LeftStep[];
}

/**
 * Makes the outcome of a saga of those of its steps: its output; the failure of the step that
 * failed, when nothing stays; else PARTIAL_SUCCESS with the steps that stay (seeds/004, "Partial
 * Success Ambiguity"). COMPENSATION_FAILED when undoing a step failed.
 */
export function concludeSaga(
  ports: ConcludePorts,
  saga: RunningSaga,
  { progress: { made, failed }, left }: EndedSaga,
): Result<NormalOutput, ToolFailure> {
  if (!failed) return makeOutput(ports, saga, made);
  const stuck = left.find(({ failure }) => failure);
  if (stuck?.failure) return refuseHalfUndone(ports, { failed, left, stuck: stuck.failure });
  if (left.length > 0 || isUnknown(failed)) return ok(describePartial(saga, failed, left));
  const { taxonomyClass, errors, errorId } = failed.failure;
  const note = errorOf(
    "saga_undone",
    `step ${failed.step} (${failed.toolId}) failed; nothing of this call remains`,
  );
  return fail({
    taxonomyClass,
    errors: [...errors.map(asStepError), note],
    notCommitted: true,
    ...(errorId !== undefined && { errorId }),
  });
}

/** The field of an error is one of the step's arguments, which nobody can repair. */
function asStepError({ code, message }: FieldError): FieldError {
  return { field: null, code, message };
}

function makeOutput(
  ports: ConcludePorts,
  { tool, plan, args }: RunningSaga,
  made: readonly MadeStep[],
): Result<NormalOutput, ToolFailure> {
  if (!args.ok) return NO_OUTPUT;
  try {
    const value = plan.result(args.value, outputsOf(made));
    const accepted = { args: args.value, shown: tool.redactArgs(args.value) };
    return normaliseOutput(ports, { tool, accepted, mask: maskValues([]) }, ok(value));
  } catch (thrown) {
    const about = { toolId: tool.id, toolVersion: tool.version };
    return fail({ ...NO_OUTPUT.failure, errorId: ports.log.fault("call_failed", thrown, about) });
  }
}

const NO_OUTPUT = failCall(
  "invalid_output",
  "every step was made, but the output of the call could not be made",
);

/** An operator has to reconcile the steps that stay. */
function refuseHalfUndone(
  { log }: ConcludePorts,
  {
    failed,
    left,
    stuck,
  }: {
    readonly failed: FailedStep;
    readonly left: readonly LeftStep[];
    readonly stuck: ToolFailure;
  },
): Result<never, ToolFailure> {
  const last = left.at(-1)?.record.name ?? "";
  log.write({
    level: "error",
    code: "compensation_failed",
    toolId: last,
    reason: stuck.errors[0]?.code ?? stuck.taxonomyClass,
  });
  const { failure } = failCall("compensation_failed", `undoing ${last} failed: ${describe(stuck)}`);
  const cause = errorOf(
    "step_failed",
    `step ${failed.step} (${failed.toolId}) failed: ${describe(failed.failure)}`,
  );
  const remaining = left.map(({ step, record }) =>
    errorOf(
      "not_undone",
      `step ${step} (${record.name}, ${invocationIdOf(record.number)}) has happened ` +
        "and was not undone",
    ),
  );
  return fail({ ...failure, errors: [...failure.errors, cause, ...remaining], committed: true });
}

function describe({ taxonomyClass, errors }: ToolFailure): string {
  const [first] = errors;
  return first ? `${first.code}, ${first.message}` : taxonomyClass;
}

function describePartial(
  { plan }: RunningSaga,
  failed: FailedStep,
  left: readonly LeftStep[],
): NormalOutput {
  const completed = left.map(({ step, record }) => ({
    step,
    tool: record.name,
    invocation_id: invocationIdOf(record.number),
  }));
  const [error] = failed.failure.errors;
  const stopped = {
    step: failed.step,
    tool: failed.toolId,
    ...(failed.record && { invocation_id: invocationIdOf(failed.record.number) }),
    code: isUnknown(failed) ? "outcome_unknown" : (error?.code ?? failed.failure.taxonomyClass),
    message: error?.message ?? "",
  };
  const notBegun = plan.steps.slice(failed.step).map(({ toolId }, index) => ({
    step: failed.step + 1 + index,
    tool: toolId,
    code: "not_begun",
    message: "a step before this one failed",
  }));
  const data: JsonObject = {
    completed_steps: completed,
    failed_steps: [stopped, ...notBegun],
    hints: [
      ...(completed.length > 0 ? ["The completed steps stay. Do not ask for them again."] : []),
      ...(isUnknown(failed)
        ? [`Nobody knows whether step ${failed.step} happened. Look before you ask for it again.`]
        : []),
      "Ask people before you do by hand what is missing.",
    ],
  };
  return { raw: data, data, content: [], warnings: [], isPartial: true };
}
