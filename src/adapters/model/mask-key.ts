import type { ModelAnswer, ModelEvent } from "../../protocol/model/event.ts";
import { createMask, MASK, type MaskValues } from "../../protocol/secrets/mask-values.ts";

/** Shorter keys are placeholders such as `none`, not secrets. */
const MIN_SECRET_CHARS = 8;
const MAX_DETAIL_CHARS = 2_000;

/** Masks the key in the next events of one model call. Contract: may answer an empty batch. */
export type MaskKey = (batch: readonly ModelEvent[]) => readonly ModelEvent[];

/**
 * Makes a function that starts one model call, and masks a provider's key in everything that the
 * provider sends.
 * Threat: a gateway that repeats the headers of a request, in its errors or in a model's answer.
 * Text that may be the beginning of the key waits for the next text, or for the answer.
 * Contract: linear. Every form of the key is found that maskValues finds; an error is cut there.
 */
export function createKeyMask(apiKey: string): () => MaskKey {
  if (apiKey.length < MIN_SECRET_CHARS) return () => (batch) => batch.map(shortenDetail);
  const mask = createMask([apiKey]);
  return () => {
    const texts = { text_delta: mask.pieces(), summary_delta: mask.pieces() };
    const maskEvent = (event: ModelEvent): readonly ModelEvent[] => {
      if (event.type !== "answer") return deltaOf(event.type, texts[event.type].add(event.text));
      return [
        ...deltaOf("summary_delta", texts.summary_delta.rest()),
        ...deltaOf("text_delta", texts.text_delta.rest()),
        shortenDetail({ type: "answer", answer: maskIn(event.answer, mask.value) }),
      ];
    };
    return (batch) => batch.flatMap(maskEvent);
  };
}

function deltaOf(type: "text_delta" | "summary_delta", text: string): readonly ModelEvent[] {
  return text === "" ? [] : [{ type, text }];
}

function maskIn(answer: ModelAnswer, mask: MaskValues): ModelAnswer {
  const { text, toolCalls, opaque, failure, ...facts } = answer;
  // What a provider must see again stays as it is, or is dropped.
  const items = opaque && JSON.stringify(opaque.items);
  return {
    ...facts,
    text: mask(text),
    toolCalls: toolCalls.map(({ toolCallId, name, argumentsText, truncated }) => ({
      toolCallId: mask(toolCallId),
      name: mask(name),
      argumentsText: maskArguments(argumentsText, mask),
      truncated,
    })),
    ...(items !== undefined && mask(items) === items && { opaque }),
    ...(failure && { failure: { ...failure, detail: cutAtKey(failure.detail, mask) } }),
  };
}

/** Masks the key in arguments. Threat: escapes that are gone once the arguments are parsed. */
function maskArguments(text: string, mask: MaskValues): string {
  const masked = mask(text);
  if (!masked.includes("\\")) return masked;
  try {
    const plain = JSON.stringify(JSON.parse(masked));
    const shown = mask(plain);
    return shown === plain ? masked : shown;
  } catch {
    return masked;
  }
}

function cutAtKey(detail: string, mask: MaskValues): string {
  const masked = mask(detail);
  return masked === detail ? detail : `${masked.split(MASK, 1).join("")}[key removed]`;
}

function shortenDetail(event: ModelEvent): ModelEvent {
  if (event.type !== "answer" || !event.answer.failure) return event;
  const { failure } = event.answer;
  const detail = failure.detail.slice(0, MAX_DETAIL_CHARS);
  return { ...event, answer: { ...event.answer, failure: { ...failure, detail } } };
}
