import type { ModelRequest } from "../../capabilities/model.ts";
import type { ToolChoice } from "../../protocol/model/answer-settings.ts";
import type { ModelAnswer } from "../../protocol/model/event.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import { replaceHalves } from "../../protocol/text/whole-characters.ts";
import type { ShownTool } from "../../protocol/tool/spec.ts";
import { AnswerParts } from "./answer-parts.ts";
import type { ModelAllowance } from "./model-budget.ts";
import { messagesShown } from "../history/prompt.ts";
import type { RunScope } from "../run-scope.ts";

/** One streamed model call. */
export interface RelayedAnswer {
  readonly answer: ModelAnswer;
  /** The event parts that show its text and its reasoning. */
  readonly parts: readonly number[];
}

/** Makes one model call and relays its deltas; one batch of events per network read. */
export async function relayAnswer(
  scope: RunScope,
  { maxOutputTokens }: ModelAllowance,
): Promise<RelayedAnswer> {
  const { journal, model, signal, state } = scope;
  const request: ModelRequest = {
    model: state.model,
    messages: messagesShown(scope),
    tools: toolsShown(scope),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...settingsNow(scope),
  };
  const parts = new AnswerParts(() => scope.nextPart());
  let answer: ModelAnswer | undefined;
  try {
    for await (const batch of model.stream(request, signal)) {
      const events: AiEvent[] = [];
      for (const event of batch) {
        if (event.type === "answer") answer = toWhole(event.answer);
        else events.push(...parts.show(event));
      }
      if (events.length > 0) journal.append(events);
    }
  } finally {
    const closing = parts.close();
    if (closing.length > 0) journal.append(closing);
  }
  if (answer === undefined) throw new Error("the model stream ended without an answer");
  return { answer, parts: parts.opened };
}

/**
 * Drops a forced choice of tools once the run has a call, because the model could never end, and
 * where the model does not see the tool, because the provider would refuse the request.
 */
function settingsNow(scope: RunScope): Pick<ModelRequest, "settings"> {
  const { claim, state } = scope;
  const { toolChoice, ...settings } = claim.settings ?? {};
  const isForced = toolChoice !== undefined && toolChoice !== "auto" && toolChoice !== "none";
  const isOver = isForced && (state.invocations.hasCalls || !isShown(scope, toolChoice));
  return { settings: { ...settings, ...(toolChoice && !isOver && { toolChoice }) } };
}

/** Tells whether the model sees a tool of its choice: the one that is forced, or any. */
function isShown(scope: RunScope, choice: Exclude<ToolChoice, "auto" | "none">): boolean {
  const shown = toolsShown(scope);
  return choice === "required" ? shown.length > 0 : shown.some(({ name }) => name === choice.tool);
}

/** The calls of the answer become whole in CallIds. */
function toWhole(answer: ModelAnswer): ModelAnswer {
  return { ...answer, text: replaceHalves(answer.text) };
}

/** Lists the tools that the model sees now: those of the run, then those of its client. */
export function toolsShown({ tools, clientTools, runner }: RunScope): readonly ShownTool[] {
  return [...tools.filter(({ name }) => !runner.isWithdrawn(name)), ...clientTools];
}
