import { MAX_TOOL_CALL_ID_CHARS, type ToolCallId } from "../protocol/identity/ids.ts";
import type { ToolCall } from "../protocol/tool/call.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";

/** No tool has a longer name. The head of such a name is enough to refuse it. */
const MAX_NAME_CHARS = 128;

/**
 * Gives tool calls ids that are unique within a conversation. Providers repeat their ids from step
 * to step.
 * Contract: deterministic; keeps an id that is new, and replaces lone surrogates in it, because
 * storage would make different lone surrogates equal.
 */
export class CallIds {
  readonly #used = new Set<string>();

  constructor(history: readonly TranscriptMessage[]) {
    for (const message of history) {
      if (message.role !== "assistant") continue;
      for (const call of message.toolCalls) this.#used.add(call.toolCallId);
    }
  }

  /** Gives every call of a step its id. */
  claim(calls: readonly ToolCall[], step: number): readonly ToolCall[] {
    return calls.map((call, index) => {
      const wanted = call.toolCallId.toWellFormed() as ToolCallId;
      const toolCallId = this.#free(wanted, `call_${step}_${index}`);
      this.#used.add(toolCallId);
      return { ...call, toolCallId, name: call.name.slice(0, MAX_NAME_CHARS).toWellFormed() };
    });
  }

  #free(wanted: ToolCallId, fallback: string): ToolCallId {
    const usable = wanted.length > 0 && wanted.length <= MAX_TOOL_CALL_ID_CHARS;
    if (usable && !this.#used.has(wanted)) return wanted;
    let candidate = fallback;
    while (this.#used.has(candidate)) candidate += "_";
    return candidate as ToolCallId;
  }
}
