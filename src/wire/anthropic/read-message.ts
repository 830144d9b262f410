import type { JsonValue } from "../../protocol/json/value.ts";
import type { ModelFinish } from "../../protocol/model/event.ts";
import { readUnknownFinish, type StreamFacts } from "../model/event-decoder.ts";

const FINISHES: ReadonlyMap<string, ModelFinish> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["pause_turn", "pause"],
  ["refusal", "refusal"],
  ["model_context_window_exceeded", "context_window"],
]);

/** Reads how a message ended; undefined while it does not say. */
export function readFinish(reason: JsonValue | undefined): ModelFinish | undefined {
  if (typeof reason !== "string" || reason === "") return undefined;
  return FINISHES.get(reason) ?? readUnknownFinish(reason, "stop");
}

/** Joins the facts of a whole message in one document. */
export function mergeFacts(facts: readonly StreamFacts[]): StreamFacts {
  const error = facts.find((fact) => fact.error !== undefined)?.error;
  return {
    ...(error !== undefined && { error }),
    summary: facts.map(({ summary = "" }) => summary).join(""),
    text: facts.map(({ text = "" }) => text).join(""),
    fragments: facts.flatMap(({ fragments = [] }) => fragments),
    finish: facts.findLast(({ finish }) => finish !== undefined)?.finish,
    usage: facts.findLast(({ usage }) => usage !== undefined)?.usage,
    isEnd: facts.some(({ isEnd }) => isEnd),
  };
}
