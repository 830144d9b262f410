import type { AiEvent } from "../../protocol/run/event.ts";
import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import { replaceHalves } from "../../protocol/text/whole-characters.ts";
import type { ObservationObject } from "../../protocol/outcome/observation.ts";
import { isAboutNormalising } from "../../runner/output/normalise-output.ts";
import { isAboutLog } from "../../runner/outcome/observe.ts";

/** The decisions about one call, in the order of its events. */
interface DecidedCall {
  readonly toolCallId: string;
  readonly decided: JsonObject[];
}

/** One step: its text parts, its calls and how it ended. */
interface DecidedStep {
  readonly step: number;
  readonly parts: number[];
  readonly calls: DecidedCall[];
  readonly ends: JsonObject[];
}

/**
 * Reduces a run's log to its decisions: the model's text and calls, the redacted arguments of each
 * started call, each result, and how steps and run ended.
 * It leaves out what may differ between incarnations of one run: times, attempts, progress, part
 * numbers, withdrawn text, reasoning, titles, and the order in which the calls of one step end.
 * Contract: pure; equal for equal decisions, so a hash can represent them.
 */
export function readDecisions(log: Iterable<AiEvent>): JsonValue {
  const steps: DecidedStep[] = [];
  const texts = new Map<number, string>();
  const ends: JsonObject[] = [];
  let step = openStep(0);
  for (const event of log) {
    switch (event.type) {
      case "step_started":
        step = openStep(event.step);
        steps.push(step);
        break;
      case "text_started":
        step.parts.push(event.part);
        texts.set(event.part, "");
        break;
      case "text_delta":
        texts.set(event.part, (texts.get(event.part) ?? "") + event.text);
        break;
      case "text_withdrawn":
        for (const part of event.parts) texts.delete(part);
        break;
      case "tool_call_proposed":
        callOf(step, event).decided.push({ proposed: event.toolName });
        break;
      case "tool_call_start":
        callOf(step, event).decided.push({
          started: event.args,
          ...(event.wasAsked && { approved: true }),
        });
        break;
      case "tool_call_waiting":
        callOf(step, event).decided.push({ waits: true });
        break;
      case "tool_call_result":
        callOf(step, event).decided.push({ result: withoutTimes(event.observation) });
        break;
      case "client_tool_call":
        callOf(step, event).decided.push({ returned: event.args });
        break;
      case "step_finished": {
        const { finish, usage, continued } = event;
        step.ends.push({ finish, usage: { ...usage }, continued });
        break;
      }
      case "run_started":
        ends.push({ run: event.runId, model: event.model });
        break;
      case "done": {
        const { reason, usage, error } = event;
        ends.push({ reason, usage: { ...usage }, ...(error && { error: { ...error } }) });
        break;
      }
      case "text_finished":
      case "reasoning_started":
      case "reasoning_delta":
      case "reasoning_finished":
      case "approval_requested":
      case "approval_updated":
      case "run_waiting":
      case "tool_call_progress":
      case "model_changed":
      case "user_message":
      case "title_set":
        break;
    }
  }
  const decisions = { steps: steps.map((decided) => formatStep(decided, texts)), run: ends };
  // The log of an earlier release may hold half characters, and no hash binds them.
  return replaceHalves(decisions);
}

function openStep(step: number): DecidedStep {
  return { step, parts: [], calls: [], ends: [] };
}

function callOf(
  { calls }: DecidedStep,
  { toolCallId }: { readonly toolCallId: string },
): DecidedCall {
  const known = calls.find((call) => call.toolCallId === toolCallId);
  if (known) return known;
  const call = { toolCallId, decided: [] };
  calls.push(call);
  return call;
}

function formatStep(
  { step, parts, calls, ends }: DecidedStep,
  texts: ReadonlyMap<number, string>,
): JsonObject {
  const said = parts.flatMap((part) => texts.get(part) ?? []);
  return { step, said, calls: calls.map((call) => ({ ...call })), ends };
}

function withoutTimes(observation: ObservationObject): JsonObject {
  const {
    execution_metadata: metadata,
    result_payload: payload,
    verification,
    ...rest
  } = observation;
  const { idempotency_hit, trace_id } = metadata;
  const isLimited = rest.status.taxonomy_class === "RATE_LIMITED";
  return {
    ...rest,
    execution_metadata: { idempotency_hit, trace_id },
    // The raw output is not stored, so a replay does not know the state that it leads to.
    isVerified: verification.post_action_verification_required,
    result_payload: {
      data: payload.data,
      // The message of a rate limit holds a time.
      errors: payload.errors.map(({ field, code, message }) =>
        isLimited ? { field, code } : { field, code, message },
      ),
      // The raw output is not stored, so a replay cannot repeat what was done to it. The id of a
      // line in the log is random.
      warnings: payload.warnings.filter(
        (warning) => !isAboutNormalising(warning) && !isAboutLog(warning),
      ),
    },
  };
}
