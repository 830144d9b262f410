import { MAX_TOOL_CALL_ID_CHARS, type ToolCallId } from "../../protocol/identity/ids.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import { findSecret } from "../../protocol/secrets/secret-shapes.ts";
import {
  cutText,
  replaceHalves,
  replaceHalvesInJson,
} from "../../protocol/text/whole-characters.ts";
import { payloadOf, type ToolCall } from "../../protocol/tool/call.ts";
import { isStepCallId } from "../../runner/saga/step-call-id.ts";

/** No tool has a longer name. The head of such a name is enough to refuse it. */
const MAX_NAME_CHARS = 128;

/**
 * Turns the calls that a model asked for into operations with ids that are unique within a
 * conversation. Providers repeat their ids from step to step, and calls within a step.
 * Contract: deterministic; keeps an id that is new and harmless. The provider gets the id of the
 * operation, with the call and with its result.
 */
export class CallIds {
  readonly #used = new Set<string>();

  constructor(history: readonly TranscriptMessage[]) {
    for (const message of history) {
      if (message.role !== "assistant") continue;
      for (const call of message.toolCalls) this.#used.add(call.toolCallId);
    }
  }

  /** Gives every operation of a step its id. A repeated call is one operation. */
  claim(calls: readonly ToolCall[], step: number): readonly ToolCall[] {
    return mergeRepeated(calls.map(toWhole)).map((call, index) => {
      const { name, argumentsText, truncated } = call;
      const toolCallId = this.#free(call.toolCallId, `call_${step}_${index}`);
      this.#used.add(toolCallId);
      return { toolCallId, name, argumentsText, truncated };
    });
  }

  #free(wanted: ToolCallId, fallback: string): ToolCallId {
    const isUsable = wanted.length > 0 && wanted.length <= MAX_TOOL_CALL_ID_CHARS;
    // An id goes where no secret may go: to the log, and into the context of the invocation.
    const isHarmless = findSecret(wanted) === undefined && !isStepCallId(wanted);
    if (isUsable && isHarmless && !this.#used.has(wanted)) return wanted;
    let candidate = fallback;
    while (this.#used.has(candidate)) candidate += "_";
    return candidate as ToolCallId;
  }
}

/** Replaces half characters: storage would make different ones equal, and no hash binds them. */
function toWhole({ toolCallId, name, argumentsText, truncated }: ToolCall): ToolCall {
  return {
    toolCallId: replaceHalves<string>(toolCallId) as ToolCallId,
    name: cutText(replaceHalves(name), MAX_NAME_CHARS),
    argumentsText: replaceHalvesInJson(argumentsText),
    truncated,
  };
}

/**
 * Keeps the first of all calls that are equal in id, name and arguments.
 * Threat: a provider that sends a call twice would make its effect twice, under two keys.
 */
function mergeRepeated(calls: readonly ToolCall[]): readonly ToolCall[] {
  const ids = new Set(calls.map(({ toolCallId }) => toolCallId));
  if (ids.size === calls.length) return calls;
  const known = new Set<string>();
  return calls.filter((call) => {
    const { toolCallId, name, truncated } = call;
    const operation = JSON.stringify([toolCallId, name, truncated, payloadOf(call)]);
    const isNew = toolCallId === "" || !known.has(operation);
    known.add(operation);
    return isNew;
  });
}
