import type { ModelRequest } from "../capabilities/model.ts";
import type { ModelAnswer } from "../protocol/model/event.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import { cutText, replaceHalves } from "../protocol/text/whole-characters.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import type { ModelAllowance } from "./model-budget.ts";
import { messagesShown } from "./prompt.ts";
import type { RunScope } from "./run-scope.ts";

/** One streamed model call. */
export interface RelayedAnswer {
  readonly answer: ModelAnswer;
  /** The event part that shows its text; undefined when the model sent no text. */
  readonly part: number | undefined;
}

/** Makes one model call and relays its text; one batch of events per network read. */
export async function relayAnswer(
  scope: RunScope,
  { maxOutputTokens }: ModelAllowance,
): Promise<RelayedAnswer> {
  const { claim, journal, model, signal } = scope;
  const request: ModelRequest = {
    model: claim.model,
    messages: messagesShown(scope),
    tools: toolsShown(scope),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
  let part: number | undefined;
  let answer: ModelAnswer | undefined;
  try {
    for await (const batch of model.stream(request, signal)) {
      const events: AiEvent[] = [];
      for (const event of batch) {
        if (event.type === "answer") answer = toWhole(event.answer);
        else {
          if (part === undefined) {
            part = scope.nextPart();
            events.push({ type: "text_started", part });
          }
          pushDeltas(events, part, replaceHalves(event.text));
        }
      }
      if (events.length > 0) journal.append(events);
    }
  } finally {
    if (part !== undefined) journal.append([{ type: "text_finished", part }]);
  }
  if (answer === undefined) throw new Error("the model stream ended without an answer");
  return { answer, part };
}

/** The calls of the answer become whole in CallIds. */
function toWhole(answer: ModelAnswer): ModelAnswer {
  return { ...answer, text: replaceHalves(answer.text) };
}

/** Lists the tools that the model sees now. */
export function toolsShown({ tools, runner }: RunScope): readonly ToolSpec[] {
  return tools.filter(({ name }) => !runner.isWithdrawn(name));
}

/** Longest text of one event, so that any event fits one stored row. Unit: UTF-16 code units. */
const MAX_DELTA_CHARS = 32 * 1024;

function pushDeltas(events: AiEvent[], part: number, text: string): void {
  let rest = text;
  do {
    const delta = cutText(rest, MAX_DELTA_CHARS);
    events.push({ type: "text_delta", part, text: delta });
    rest = rest.slice(delta.length);
  } while (rest !== "");
}
