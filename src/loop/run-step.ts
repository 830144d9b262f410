import type { RecordedAnswer } from "../protocol/run/facts.ts";
import { parseArguments, type ToolCall } from "../protocol/tool/call.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { NO_USAGE } from "../protocol/model/usage.ts";
import { toExecResult } from "../runner/record.ts";
import { WAITING } from "../runner/waiting.ts";
import { askModel, type Answered } from "./ask-model.ts";
import type { ModelAllowance } from "./model-budget.ts";
import type { StepScope } from "./step-scope.ts";

/** One model call and the tool calls it asked for. */
export interface Step {
  readonly number: number;
  /** It began in an earlier life of the run. */
  readonly hasBegun: boolean;
  /** Its model call ended in an earlier life of the run, like this. */
  readonly answer: RecordedAnswer | undefined;
}

/** What came of a step. */
export interface StepEnd {
  readonly answer: RecordedAnswer;
  /** Another step follows, for what the model asked or for what a person said. */
  readonly continued: boolean;
  /** Of a call nobody knows what became of it, and nobody will find out any more. */
  readonly hasUnknownOutcome: boolean;
}

/**
 * Runs one step, or the rest of it: streams the model's text, then takes every finished call through the
 * runner and answers each in the transcript, in the order asked.
 * Contract: tool calls come from the decoder's finished answer alone (seeds/000 #8); every part it opens it
 * also closes, unless it waits: then the step stays open, to be run again once there is word. A step that
 * is the last one, or that nothing follows, leaves the inbox closed.
 */
export async function runStep(
  scope: StepScope,
  step: Step,
  allowance: ModelAllowance,
): Promise<StepEnd | typeof WAITING> {
  const { inbox, journal, modelCalls, signal } = scope;
  const answer = step.answer ?? (await beginStep(scope, step, allowance));
  const answered = await answerCalls(scope, step.number);
  if (answered === WAITING) return WAITING;
  const { finish, usage } = answer;
  const isWanted = finish === "tool_calls" || (inbox.hasSteering && finish !== "error");
  const isLast = modelCalls.left <= 0;
  const continued = isWanted && !isLast && !signal.aborted && !answered.hasUnknownOutcome;
  if (!continued) inbox.close();
  journal.append([{ type: "step_finished", step: step.number, finish, usage, continued }]);
  return { answer, continued, hasUnknownOutcome: answered.hasUnknownOutcome };
}

/** Remembers what people said. Before the last model call it is the last moment for that. */
export function takeSteering(scope: StepScope): void {
  const { inbox, modelCalls } = scope;
  // Here every call has its result; providers refuse a message between the two.
  for (const text of inbox.takeAll()) remember(scope, { role: "user", text });
  if (modelCalls.left <= 1) inbox.close();
}

/** Asks the model; what it answers is remembered together with what it asks for. */
async function beginStep(
  scope: StepScope,
  { number, hasBegun }: Step,
  allowance: ModelAllowance,
): Promise<RecordedAnswer> {
  const { claim, journal } = scope;
  if (!hasBegun) {
    const messageId = `${claim.runId}-${number}`;
    journal.append([{ type: "step_started", step: number, messageId }]);
  }
  const answered = await askModel(scope, allowance);
  const answer = toRecorded(answered, number);
  journal.note({ answer });
  if (answer.finish === "error") return answer;
  const asked = answer.finish === "tool_calls" ? answered.answer.toolCalls : [];
  const calls = scope.callIds.claim(asked, number);
  rememberAssistant(scope, answered.answer.text, calls);
  proposeCalls(scope, number, calls);
  return answer;
}

function toRecorded({ answer, modelCall }: Answered, step: number): RecordedAnswer {
  const { finish, usage = NO_USAGE, failure } = answer;
  const { code, status } = failure ?? {};
  const why = code && { code, ...(status !== undefined && { status }) };
  return { step, modelCall, finish, usage, ...(why && { failure: why }) };
}

/** Most argument text that one assistant message remembers: a model could ask for 32 MB of it. */
const MAX_REMEMBERED_CHARS = 256 * 1024;

function rememberAssistant(scope: StepScope, text: string, calls: readonly ToolCall[]): void {
  let room = MAX_REMEMBERED_CHARS;
  const toolCalls = calls.map((call) => {
    // Providers refuse a history whose arguments are not JSON; the observation tells what was wrong.
    const said = parseArguments(call).ok ? call.argumentsText.trim() : "";
    const argumentsText = said !== "" && said.length <= room ? said : "{}";
    room -= argumentsText.length;
    return { toolCallId: call.toolCallId, name: call.name, argumentsText };
  });
  remember(scope, { role: "assistant", text, toolCalls });
}

/** Shows every call and reserves its operation. */
function proposeCalls(scope: StepScope, step: number, calls: readonly ToolCall[]): void {
  const nowMs = scope.clock.nowMs();
  const events = calls.map((call) => {
    const { toolCallId, name: toolName } = call;
    const part = scope.nextPart();
    scope.invocations.reserve(call, { step, part }, nowMs);
    return { type: "tool_call_proposed" as const, part, toolCallId, toolName };
  });
  if (events.length > 0) scope.journal.append(events);
}

/**
 * Launches every call of the step at once: the runner alone decides which of them may run beside each
 * other. Results are remembered in the order asked, each as soon as those before it are, so that a crash
 * loses few. One that waits holds back those after it.
 */
async function answerCalls(
  scope: StepScope,
  step: number,
): Promise<Pick<StepEnd, "hasUnknownOutcome"> | typeof WAITING> {
  const { runId, principal } = scope.claim;
  const { tenantId, actorId } = principal;
  const running = scope.invocations.ofStep(step).map((record) => {
    const { toolCallId, part } = record;
    const context = { runId, tenantId, actorId, toolCallId, step, part };
    const { end } = record;
    const result = end
      ? toExecResult(toolCallId, record.state, end)
      : scope.runner.exec(record, context, scope.signal);
    return { record, result };
  });
  const remembered = rememberedResults(scope.transcript);
  let isWaiting = false;
  let hasUnknownOutcome = false;
  for (const { record, result } of running) {
    const { toolCallId, name } = record;
    const outcome = await result;
    if (outcome === WAITING) isWaiting = true;
    else {
      hasUnknownOutcome ||= outcome.state === "EXPIRED";
      if (isWaiting || remembered.has(toolCallId)) continue;
      remember(scope, { role: "tool", toolCallId, name, result: outcome.observation });
    }
  }
  return isWaiting ? WAITING : { hasUnknownOutcome };
}

/** Calls of the last assistant message that the conversation holds results of. */
function rememberedResults(transcript: readonly TranscriptMessage[]): ReadonlySet<string> {
  const last = transcript.findLastIndex(({ role }) => role === "assistant");
  return new Set(
    transcript
      .slice(last + 1)
      .flatMap((message) => (message.role === "tool" ? [message.toolCallId] : [])),
  );
}

function remember(scope: StepScope, message: TranscriptMessage): void {
  scope.transcript.push(message);
  scope.journal.remember(message);
}
