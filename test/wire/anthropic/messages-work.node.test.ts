import { expect, test } from "vitest";
import { AnswerDecoder } from "../../../src/wire/model/answer-decoder.ts";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";

/** Small events after the first ones, and how often their time is measured. */
const EVENTS = 100;
const ROUNDS = 5;
/** Copying the fields with each event takes some hundred times as long. */
const MOST = 20;

const START = { type: "content_block_start", index: 0, content_block: { type: "thinking" } };
const fields = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, 1]));

test.each<[string, (many: object) => object]>([
  ["a report of tokens", (many) => ({ type: "message_delta", delta: {}, usage: many })],
  [
    "a signature",
    (many) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "signature_delta", ...many },
    }),
  ],
])("a small event after many fields of %s is little work", (_, eventOf) => {
  const few = leastTime(eventOf(fields(1)), eventOf({ last: 1 }));
  const many = leastTime(eventOf(fields(30_000)), eventOf({ last: 1 }));
  expect(many / few).toBeLessThan(MOST);
});

/** Measures what the small events take, as the shortest of some rounds. Unit: milliseconds. */
function leastTime(first: object, small: object): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const author = { wire: "anthropic", model: "m" };
    const decoder = new AnswerDecoder(anthropicWire.createDecoder(), { author });
    decoder.feed(frame(START) + frame(first));
    const text = frame(small).repeat(EVENTS);
    const startMs = performance.now();
    decoder.feed(text);
    return performance.now() - startMs;
  });
  return Math.min(...rounds);
}

function frame(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
