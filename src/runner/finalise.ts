import { errorOf } from "../protocol/outcome/failures.ts";
import type { ImageKeeper } from "../capabilities/files.ts";
import type { UsedNames } from "../capabilities/used-names.ts";
import { namesIn } from "../protocol/approval/new-values.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import { isOwnUse } from "./flow/evidence.ts";
import type { Veto } from "../capabilities/hook.ts";
import { hashText } from "../protocol/json/canonical-hash.ts";
import type { CallLesson } from "../protocol/invocation/record.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { DispatchState } from "../protocol/outcome/response-vector.ts";
import { fail, type Result } from "../protocol/outcome/result.ts";
import { showContent } from "../protocol/tool/content.ts";
import { mutates, type ActiveCall } from "./active-call.ts";
import type { AttemptResult } from "./attempt.ts";
import { formatErrorKinds, SAME_RESULT, type CallHistory } from "./call-history.ts";
import { authorise } from "./gates/authorise.ts";
import { checkCaller } from "./gates/check-caller.ts";
import { policyGate } from "./gates/check-allowed.ts";
import { askHooksAfter, failureOf, hookedCall, type HookPorts } from "./gates/ask-hooks.ts";
import { checkContextOf } from "./gates/check-context.ts";
import type { FinalState } from "./invocation/invocation-ledger.ts";
import type { Conclusion } from "./outcome/conclusion.ts";
import { formatContent, keepImages } from "./output/content.ts";
import type { NormalOutput } from "./output/normalise-output.ts";
import { observe } from "./outcome/observe.ts";
import { NOT_UNDOABLE, planCompensation, type PlanPorts } from "./undo/plan-compensation.ts";
import { failedState, type RecordPorts } from "./record.ts";
import { dispatchStateOf, hasHappened } from "./retry/decide-next.ts";

/** What finalising needs from the run. */
export type FinalisePorts = RecordPorts &
  HookPorts &
  PlanPorts & {
    readonly history: CallHistory;
    readonly usedNames: UsedNames;
    readonly principal: Principal;
    readonly images: Pick<ImageKeeper, "keep">;
  };

/**
 * Turns the last attempt at a call into its conclusion: adds the call to the run's history,
 * warns a model that repeats itself, and asks the deployment's hooks about the outcome.
 */
export async function finalise(
  ports: FinalisePorts,
  call: ActiveCall,
  result: AttemptResult,
): Promise<Conclusion> {
  const { shownArgs, ranWith, isReplay = false, gates, argumentsDigest } = result;
  const isStep = call.toolCall.saga !== undefined;
  // The model asked for no step of a saga, so it learns nothing from one.
  const { outcome, repairEnded, warnings, ...learnt } = isStep
    ? { outcome: result.outcome, repairEnded: false, warnings: [] }
    : await learn(ports.history, call, result);
  const dispatchState = { ...dispatchStateOf(call, result), repairEnded };
  const invocationState = finalStateOf(result, dispatchState);
  const payloadHash = shownArgs && argumentsDigest;
  const grounds = { gates, shownArgs, payloadHash };
  const isDone = invocationState === "COMPLETED";
  const undo = isDone ? await planCompensation(ports, call.tool, result) : NOT_UNDOABLE;
  const expectation = result.outcome.ok ? result.outcome.value.expectation : undefined;
  const ending = { invocationState, dispatchState, isReplay, grounds, expectation };
  const conclusion = {
    outcome,
    ...learnt,
    ...(isStep && result.outcome.ok && { output: result.outcome.value.raw }),
    usedNames: isDone ? await hashNames(ports, call, shownArgs) : [],
    ...undo,
    warnings: [...warnings, ...undo.warnings],
    ...ending,
  };
  // The hooks are asked only about a tool that ran.
  if (!ranWith || !shownArgs) return conclusion;
  const endedAtMs = ports.clock.nowMs();
  const observation = observe(ports, { ...call, endedAtMs }, conclusion);
  const { content = [], details } = outcome.ok ? outcome.value : {};
  const context = checkContextOf(ports, ranWith, argumentsDigest);
  const asked = hookedCall(call.tool, context, shownArgs);
  const seen = { observation, content: showContent(content) };
  const veto = await askHooksAfter(ports, { ...asked, ...(details && { details }) }, seen);
  if (veto) return { ...conclusion, outcome: withhold(outcome, veto), warnings: undo.warnings };
  return { ...conclusion, content: keepImages(ports.images, content), details };
}

/** Most names of one call that are remembered. */
const MAX_NAMES = 32;

/** Hashes what a call that discloses or changes something named, as the person's own use. */
async function hashNames(
  { approvals, invocations, usedNames, principal }: FinalisePorts,
  { tool, context }: ActiveCall,
  shownArgs: JsonObject = {},
): Promise<readonly string[]> {
  const record = invocations.find(context);
  if (!record || !(mutates(tool) || tool.discloses) || !isOwnUse(approvals, record)) return [];
  return usedNames.hash(principal, namesIn(shownArgs).slice(0, MAX_NAMES));
}

const WITHHELD_RESULT = "the tool ran, but its result is withheld: ";
const WITHHELD_FAILURE = "the tool was asked to act, but its outcome is withheld: ";

/** Replaces the texts of an outcome. What may follow from a failure stays the same. */
function withhold(outcome: AttemptResult["outcome"], veto: Veto): Result<never, ToolFailure> {
  const message = `${outcome.ok ? WITHHELD_RESULT : WITHHELD_FAILURE}${veto.message}`;
  const taxonomyClass = outcome.ok ? "POLICY_VIOLATION" : outcome.failure.taxonomyClass;
  const withheld = outcome.ok ? "result" : "failure";
  const endedBy = { who: "hook", when: "after", withheld, message: veto.message } as const;
  return fail({ ...failureOf(taxonomyClass, { ...veto, message }), endedBy });
}

/** A call whose output does not fit the contract has happened all the same: it is COMPLETED. */
function finalStateOf(result: AttemptResult, dispatchState: DispatchState): FinalState {
  const { outcome } = result;
  if (outcome.ok || hasHappened(result)) return "COMPLETED";
  return failedState(outcome.failure, dispatchState);
}

const LOOP_WARNING = `${SAME_RESULT}; it will not be made again with these arguments`;
const REPAIR_ENDED = errorOf("repair_ended");
/** Gates that ask about the tool and its caller, and about no argument. */
const OF_THE_TOOL: ReadonlySet<string | undefined> = new Set(
  [policyGate, checkCaller, authorise].map(({ name }) => name),
);

type Learnt = Pick<AttemptResult, "outcome"> & {
  readonly lesson: CallLesson;
  readonly warnings: readonly string[];
  readonly repairEnded: boolean;
};

/** Adds a call to the run's history, and warns a model that repeats itself. */
async function learn(
  history: CallHistory,
  { context, tool }: ActiveCall,
  { argumentsDigest, ranWith, outcome, gates }: AttemptResult,
): Promise<Learnt> {
  const text = outcome.ok ? formatOutput(outcome.value) : formatErrorKinds(outcome.failure);
  const lesson: CallLesson = {
    argumentsFingerprint: argumentsDigest,
    begun: ranWith !== undefined,
    changed: outcome.ok && mutates(tool),
    resultFingerprint: await hashIfLong(text),
    ...(!outcome.ok && { failureClass: outcome.failure.taxonomyClass }),
    ...(gates?.refusedBy === "approval" && { refusedByPeople: true as const }),
    ...(OF_THE_TOOL.has(gates?.refusedBy) && { refusedAsSuch: true as const }),
  };
  const taken = history.take({ toolId: tool.id, step: context.step, lesson });
  const warnings = taken.isLooping ? [LOOP_WARNING] : [];
  if (outcome.ok) return { outcome, lesson, warnings, repairEnded: false };
  const repairEnded = history.isWithdrawn(tool.id);
  // The refusal itself says that no arguments would pass.
  if (!taken.ends || lesson.refusedAsSuch) return { outcome, lesson, warnings, repairEnded };
  const errors = [...outcome.failure.errors, REPAIR_ENDED];
  return { outcome: fail({ ...outcome.failure, errors }), lesson, warnings, repairEnded };
}

/** Writes everything that tells one output from another. */
function formatOutput({ data, content }: NormalOutput): string {
  if (content.length === 0) return JSON.stringify(data);
  return JSON.stringify([data, formatContent(content)]);
}

/** Longest text that a run remembers without hashing it. Unit: UTF-16 code units. */
const MAX_REMEMBERED_CHARS = 256;

/** Hashes a long text. A short text is kept, because hashing it costs more than storing it. */
async function hashIfLong(text: string): Promise<string> {
  return text.length <= MAX_REMEMBERED_CHARS ? text : hashText(text);
}
