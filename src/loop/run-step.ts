import type { Mailbox } from "../capabilities/inbox.ts";
import type { Model } from "../capabilities/model.ts";
import type { RunJournal } from "../capabilities/run-journal.ts";
import type { AiEvent } from "../protocol/ai-event.ts";
import type { ModelTurn } from "../protocol/model-event.ts";
import type { RunClaim } from "../protocol/run-claim.ts";
import { parseArguments, type ToolCall } from "../protocol/tool-call.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";
import type { TranscriptMessage } from "../protocol/transcript-message.ts";
import { NO_USAGE } from "../protocol/usage.ts";
import { isHighSurrogate } from "../protocol/utf16.ts";
import type { ToolRunner } from "../runner/tool-runner.ts";
import type { CallIds } from "./call-ids.ts";

/** What every step of a run shares. */
export interface StepScope {
  readonly claim: RunClaim;
  readonly model: Model;
  /** What the model is shown, but for the tools that the runner has withdrawn. */
  readonly tools: readonly ToolSpec[];
  readonly runner: ToolRunner;
  readonly journal: RunJournal;
  readonly inbox: Mailbox;
  readonly callIds: CallIds;
  readonly signal: AbortSignal;
  /** The conversation; grows as the run goes on. */
  readonly transcript: TranscriptMessage[];
  /** Hands out event part numbers. */
  nextPart(): number;
}

/** One model call and the tool calls it asked for. */
export interface Step {
  readonly number: number;
  /** No step follows this one, whatever it asks for. */
  readonly last: boolean;
}

/** What came of a step. */
export interface StepEnd {
  readonly turn: ModelTurn;
  /** Another step follows, for what the model asked or for what a person said. */
  readonly continued: boolean;
}

/**
 * Runs one step: takes what people said, streams the model's text, then takes every finished call
 * through the runner and answers each in the transcript, in the order asked.
 * Contract: tool calls come from the decoder's finished turn alone (seeds/000 #8); every part it
 * opens it also closes. A step that is the last one, or that nothing follows, leaves the inbox closed.
 */
export async function runStep(scope: StepScope, step: Step): Promise<StepEnd> {
  const { claim, inbox, journal, signal } = scope;
  // Here every call has its result; providers refuse a message between the two.
  for (const text of inbox.takeAll()) remember(scope, { role: "user", text });
  if (step.last) inbox.close();
  journal.append([
    { type: "step_started", step: step.number, messageId: `${claim.runId}-${step.number}` },
  ]);
  const turn = await streamModel(scope);
  const asked = turn.finish === "tool_calls" ? turn.toolCalls : [];
  const calls = scope.callIds.claim(asked, step.number);
  if (turn.finish !== "error") rememberAssistant(scope, turn.text, calls);
  if (calls.length > 0) await answerCalls(scope, step, calls);
  const isWanted = turn.finish === "tool_calls" || (inbox.hasMail && turn.finish !== "error");
  const continued = isWanted && !step.last && !signal.aborted;
  if (!continued) inbox.close();
  const { finish, usage = NO_USAGE } = turn;
  journal.append([{ type: "step_finished", step: step.number, finish, usage, continued }]);
  return { turn, continued };
}

/** Relays one model call; one batch of events per network read. */
async function streamModel(scope: StepScope): Promise<ModelTurn> {
  const { claim, journal, model, runner, signal, transcript } = scope;
  const tools = scope.tools.filter(({ name }) => !runner.isWithdrawn(name));
  const request = { model: claim.model, messages: transcript, tools };
  let part: number | undefined;
  let turn: ModelTurn | undefined;
  try {
    for await (const batch of model.stream(request, signal)) {
      const events: AiEvent[] = [];
      for (const event of batch) {
        if (event.type === "turn") turn = event.turn;
        else {
          if (part === undefined) {
            part = scope.nextPart();
            events.push({ type: "text_started", part });
          }
          pushDeltas(events, part, event.text);
        }
      }
      if (events.length > 0) journal.append(events);
    }
  } finally {
    if (part !== undefined) journal.append([{ type: "text_finished", part }]);
  }
  if (turn === undefined) throw new Error("the model ended without a turn");
  return turn;
}

/** Longest text of one event, so that any event fits one stored row. Unit: UTF-16 code units. */
const MAX_DELTA_CHARS = 32 * 1024;

function pushDeltas(events: AiEvent[], part: number, text: string): void {
  let start = 0;
  while (text.length - start > MAX_DELTA_CHARS) {
    let end = start + MAX_DELTA_CHARS;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end--;
    events.push({ type: "text_delta", part, text: text.slice(start, end) });
    start = end;
  }
  events.push({ type: "text_delta", part, text: start === 0 ? text : text.slice(start) });
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

/**
 * Launches every call at once: the runner alone decides which of them may run beside each other. Results
 * are remembered in the order asked, each as soon as those before it are, so that a crash loses few.
 */
async function answerCalls(
  scope: StepScope,
  step: Step,
  calls: readonly ToolCall[],
): Promise<void> {
  const proposed = calls.map((call) => ({ call, part: scope.nextPart() }));
  scope.journal.append(
    proposed.map(({ call, part }) => ({
      type: "tool_call_proposed" as const,
      part,
      toolCallId: call.toolCallId,
      toolName: call.name,
    })),
  );
  const { runId, principal } = scope.claim;
  const { tenantId, actorId } = principal;
  const running = proposed.map(({ call, part }) => {
    const { toolCallId } = call;
    const context = { runId, tenantId, actorId, toolCallId, step: step.number, part };
    return { call, result: scope.runner.exec(call, context, scope.signal) };
  });
  for (const { call, result } of running) {
    const { toolCallId, name } = call;
    const { observation } = await result;
    remember(scope, { role: "tool", toolCallId, name, result: observation });
  }
}

function remember(scope: StepScope, message: TranscriptMessage): void {
  scope.transcript.push(message);
  scope.journal.remember(message);
}
