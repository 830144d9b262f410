import { expect } from "vitest";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import type { ModelEvent, ModelFinish, ModelAnswer } from "../../../src/protocol/model/event.ts";
import { parseArguments } from "../../../src/protocol/tool/call.ts";
import {
  AnswerDecoder,
  type AnswerDecoderOptions,
} from "../../../src/wire/model/answer-decoder.ts";
import type { ModelWire } from "../../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";

/** A stream and what it means. */
export interface StreamFixture {
  readonly name: string;
  readonly sse: string;
  readonly expect: Expectation;
}

export interface Expectation {
  readonly text: string;
  readonly toolCalls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: JsonObject;
  }[];
  readonly finish: ModelFinish;
  readonly usage?: { readonly prompt: number; readonly completion: number };
  /** The failure's code. */
  readonly error?: string;
}

/** Decodes a body read in these pieces; checks what holds for every stream. */
export function decodePieces(
  pieces: Iterable<Uint8Array>,
  { wire = openAIWire, ...options }: AnswerDecoderOptions & { readonly wire?: ModelWire } = {},
): ModelAnswer {
  const decoder = new AnswerDecoder(wire.createDecoder(), options);
  const utf8 = new TextDecoder();
  const events: ModelEvent[] = [];
  for (const piece of pieces) events.push(...decoder.feed(utf8.decode(piece, { stream: true })));
  events.push(...decoder.feed(utf8.decode()), ...decoder.end());
  expect(decoder.feed("data: {}\n\n"), "nothing follows the answer").toEqual([]);
  return answerOf(events);
}

/** Joins the reasoning summary of a session's events. */
export function summaryOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === "summary_delta" ? event.text : "")).join("");
}

/** Takes the one answer from a session's events. */
export function answerOf(events: readonly ModelEvent[]): ModelAnswer {
  let text = "";
  for (const event of events.slice(0, -1)) {
    if (event.type === "summary_delta") continue;
    if (event.type !== "text_delta") throw new Error("a answer before the end");
    if (event.text === "") throw new Error("an empty delta");
    text += event.text;
  }
  const last = events.at(-1);
  if (last?.type !== "answer") throw new Error("no answer at the end");
  if (text !== last.answer.text) throw new Error("the deltas are not the answer's text");
  return last.answer;
}

export function bytesOf(sse: string): Uint8Array {
  return new TextEncoder().encode(sse);
}

/** Cuts a body before each of these offsets, which must ascend. */
export function* cutAt(body: Uint8Array, offsets: Iterable<number>): Generator<Uint8Array> {
  let from = 0;
  for (const offset of offsets) {
    yield body.subarray(from, offset);
    from = offset;
  }
  yield body.subarray(from);
}

export function* byteByByte(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at++) yield body.subarray(at, at + 1);
}

/** Says what a answer means in the words of a fixture. */
export function summarise({ text, toolCalls, finish, usage, failure }: ModelAnswer): Expectation {
  return {
    text,
    toolCalls: toolCalls.map((call) => {
      const args = parseArguments(call);
      return {
        id: call.toolCallId,
        name: call.name,
        arguments: args.ok ? args.value : { __invalid__: true },
      };
    }),
    finish,
    ...(usage && { usage: { prompt: usage.inputTokens, completion: usage.outputTokens } }),
    ...(failure && { error: failure.code }),
  };
}
