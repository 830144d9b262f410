import type { Veto } from "../capabilities/tool-hook.ts";
import { hashText } from "../protocol/canonical-hash.ts";
import {
  observeFailure,
  observeSuccess,
  type ObservationFacts,
  type ObservationObject,
  type ToolFailure,
} from "../protocol/observation.ts";
import { NOT_DISPATCHED, respond, type DispatchState } from "../protocol/response-vector.ts";
import { fail, type Result } from "../protocol/result.ts";
import { toolErrorCode } from "../protocol/taxonomy.ts";
import type { ToolExecResult } from "../protocol/tool-invocation.ts";
import { printOf } from "./call-history.ts";
import { mutates, type CallInHand } from "./call-in-hand.ts";
import { askAfter } from "./gates/ask-hooks.ts";
import type { NormalOutput } from "./gates/normalise-output.ts";
import { hookedCall, type Passage } from "./pass-gates.ts";
import { dispatchStateOf } from "./retry.ts";

/** A call that may not even have found its tool. */
type Ending = Pick<CallInHand, "ports" | "call" | "context" | "startedAtMs"> &
  Partial<Pick<CallInHand, "tool" | "attempt">>;

/** Ends a call that no attempt was made at. */
export function concludeEarly(ending: Ending, failure: ToolFailure): ToolExecResult {
  return finish(ending, { outcome: { ok: false, failure }, state: NOT_DISPATCHED, warnings: [] });
}

/**
 * Gate 14: draws the lessons from a call, asks the deployment's hooks about its outcome, records it and
 * says how it ended.
 */
export async function conclude(hand: CallInHand, passage: Passage): Promise<ToolExecResult> {
  const { args, begun } = passage;
  const { outcome, repairEnded, warnings } = await learn(hand, passage);
  const state = { ...dispatchStateOf(hand, passage), repairEnded };
  const conclusion: Conclusion = { args, outcome, state, warnings };
  if (!begun || !args) return finish(hand, conclusion);
  const { ports, tool } = hand;
  const observation = observe(hand, conclusion, ports.clock.nowMs());
  const veto = await askAfter(ports, hookedCall(tool, begun, args), observation);
  if (!veto) return finish(hand, conclusion);
  return finish(hand, { args, outcome: withhold(outcome, veto), state, warnings: [] });
}

/** What may follow of a failure is not a hook's to change: only its words are withheld. */
function withhold(outcome: Conclusion["outcome"], veto: Veto): Conclusion["outcome"] {
  const what = outcome.ok ? "ran, but its result" : "was asked, but what became of it";
  const message = `the tool ${what} is withheld: ${veto.message}`;
  const taxonomyClass = outcome.ok ? "POLICY_VIOLATION" : outcome.failure.taxonomyClass;
  return fail({ taxonomyClass, errors: [{ field: null, code: veto.code, message }] });
}

interface Conclusion {
  /** Redacted. */
  readonly args?: Passage["args"];
  readonly outcome: Result<NormalOutput, ToolFailure>;
  readonly state: DispatchState;
  readonly warnings: readonly string[];
}

const LOOP_WARNING =
  "this call brought the same result three times; it will not be made again with these arguments";
const BEGUN_BEFORE =
  "an earlier attempt at this call began, and nobody knows what became of it; this one did not begin";
const REPAIR_ENDED = {
  field: null,
  code: "repair_ended",
  message: "this mistake was not mended; the tool is not available any more in this run",
} as const;

/** Notes what a call came to, and tells the model when it goes in circles. */
async function learn(
  { context, history, tool, begun: begunBefore }: CallInHand,
  { argumentsPrint, begun, outcome }: Passage,
): Promise<Pick<Conclusion, "outcome" | "warnings"> & { readonly repairEnded: boolean }> {
  const call = { toolId: tool.id, step: context.step, argumentsPrint };
  const said = outcome.ok ? JSON.stringify(outcome.value.data) : printOf(outcome.failure);
  const result = { print: await shorten(said), mutates: outcome.ok && mutates(tool) };
  const isLooping = begun !== undefined && history.noteOutcome(call, result);
  const isOpen = begun !== undefined && begun === begunBefore && mutates(tool);
  const warnings = [...(isLooping ? [LOOP_WARNING] : []), ...(isOpen ? [BEGUN_BEFORE] : [])];
  if (outcome.ok) {
    history.noteAccepted(tool.id);
    return { outcome, warnings, repairEnded: false };
  }
  const ends = history.noteFailure(call, outcome.failure);
  const repairEnded = history.isWithdrawn(tool.id);
  if (!ends) return { outcome, warnings, repairEnded };
  const errors = [...outcome.failure.errors, REPAIR_ENDED];
  return { outcome: fail({ ...outcome.failure, errors }), warnings, repairEnded };
}

/** Longest text that a run remembers as it is. Unit: UTF-16 code units. */
const MAX_REMEMBERED_CHARS = 256;

/** A hash is shorter than most results, and costs more than the shortest. */
async function shorten(text: string): Promise<string> {
  return text.length <= MAX_REMEMBERED_CHARS ? text : hashText(text);
}

function finish(ending: Ending, conclusion: Conclusion): ToolExecResult {
  const { ports, call, context, startedAtMs } = ending;
  const { outcome, args, state } = conclusion;
  const endedAtMs = ports.clock.nowMs();
  const { part, toolCallId, step } = context;
  const observation = observe(ending, conclusion, endedAtMs);
  const errorCode = outcome.ok ? undefined : codeOf(outcome.failure);
  const response = respond(observation.status.taxonomy_class, state);
  ports.journal.record({
    toolCallId,
    step,
    name: call.name,
    argumentsText: call.argumentsText,
    ...(args && { args }),
    observation,
    response,
    ...(errorCode && { errorCode }),
    startedAtMs,
    endedAtMs,
  });
  ports.journal.append([{ type: "tool_call_result", part, toolCallId, observation }]);
  return {
    toolCallId,
    ok: outcome.ok,
    ...(outcome.ok && { value: outcome.value.data }),
    ...(errorCode && { errorCode }),
    observation,
    response,
  };
}

function observe(
  { call, context, tool, attempt, startedAtMs }: Ending,
  { outcome, state, warnings }: Conclusion,
  endedAtMs: number,
): ObservationObject {
  const facts: ObservationFacts = {
    name: call.name,
    version: tool?.version ?? "unknown",
    toolCallId: context.toolCallId,
    traceId: context.runId,
    startedAtMs,
    endedAtMs,
    attempt: attempt ?? 1,
    isVerificationRequired: tool?.isVerificationRequired ?? false,
    state,
    warnings: [
      ...(outcome.ok ? outcome.value.warnings : []),
      ...warnings,
      ...(tool ? deprecationOf(tool) : []),
    ],
  };
  return outcome.ok
    ? observeSuccess(facts, outcome.value.data)
    : observeFailure(facts, outcome.failure);
}

function deprecationOf({ lifecycle }: NonNullable<Ending["tool"]>): readonly string[] {
  if (lifecycle.status !== "deprecated") return [];
  const until = lifecycle.sunsetDate === null ? "" : ` and ends on ${lifecycle.sunsetDate}`;
  const instead = lifecycle.replacement === null ? "" : `; use ${lifecycle.replacement} instead`;
  return [`this version of the tool is deprecated${until}${instead}`];
}

function codeOf(failure: ToolFailure): NonNullable<ToolExecResult["errorCode"]> {
  return failure.errorCode ?? toolErrorCode(failure.taxonomyClass);
}
