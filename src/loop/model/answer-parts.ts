import type { ModelEvent } from "../../protocol/model/event.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import { cutText, replaceHalves } from "../../protocol/text/whole-characters.ts";

/**
 * Most reasoning parts of one answer; later summaries are dropped.
 * Threat: a provider that alternates reasoning and text would open a part per delta.
 */
const MAX_REASONING_PARTS = 64;
/** Longest text of one event, so that any event fits one stored row. Unit: UTF-16 code units. */
const MAX_DELTA_CHARS = 32 * 1024;

type Delta = Exclude<ModelEvent, { type: "answer" }>;

/**
 * Shows the deltas of one answer as events: its text in one part, its reasoning in parts of their
 * own. A reasoning part ends when text follows. Ownership: one per model call.
 */
export class AnswerParts {
  readonly #nextPart: () => number;
  readonly #opened: number[] = [];
  #text: number | undefined;
  #reasoning: number | undefined;
  #reasoningParts = 0;

  constructor(nextPart: () => number) {
    this.#nextPart = nextPart;
  }

  /** Every part that the answer opened. */
  get opened(): readonly number[] {
    return this.#opened;
  }

  /** Lists the events of one delta. */
  show({ type, text }: Delta): readonly AiEvent[] {
    return type === "text_delta" ? this.#showText(text) : this.#showReasoning(text);
  }

  /** Lists the events that finish the open parts. */
  close(): readonly AiEvent[] {
    const events = this.#closeReasoning();
    if (this.#text === undefined) return events;
    return [...events, { type: "text_finished", part: this.#text }];
  }

  #showText(text: string): readonly AiEvent[] {
    const events = [...this.#closeReasoning()];
    if (this.#text === undefined) {
      this.#text = this.#open();
      events.push({ type: "text_started", part: this.#text });
    }
    const part = this.#text;
    for (const piece of cutDelta(text)) events.push({ type: "text_delta", part, text: piece });
    return events;
  }

  #showReasoning(text: string): readonly AiEvent[] {
    const events: AiEvent[] = [];
    if (this.#reasoning === undefined) {
      if (this.#reasoningParts === MAX_REASONING_PARTS) return [];
      this.#reasoningParts++;
      this.#reasoning = this.#open();
      events.push({ type: "reasoning_started", part: this.#reasoning });
    }
    const part = this.#reasoning;
    for (const piece of cutDelta(text)) events.push({ type: "reasoning_delta", part, text: piece });
    return events;
  }

  #closeReasoning(): readonly AiEvent[] {
    const part = this.#reasoning;
    this.#reasoning = undefined;
    return part === undefined ? [] : [{ type: "reasoning_finished", part }];
  }

  #open(): number {
    const part = this.#nextPart();
    this.#opened.push(part);
    return part;
  }
}

function* cutDelta(delta: string): Generator<string> {
  let rest = replaceHalves(delta);
  do {
    const piece = cutText(rest, MAX_DELTA_CHARS);
    yield piece;
    rest = rest.slice(piece.length);
  } while (rest !== "");
}
