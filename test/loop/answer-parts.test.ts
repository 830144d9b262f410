import { expect, test } from "vitest";
import { AnswerParts } from "../../src/loop/model/answer-parts.ts";
import { withdrawPartialText } from "../../src/loop/first-step.ts";
import { newRunMemory, readProgress } from "../../src/loop/run-memory.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";

function createParts(): AnswerParts {
  let next = 0;
  return new AnswerParts(() => next++);
}

const typesOf = (events: readonly AiEvent[]) => events.map(({ type }) => type);

test("reasoning ends when text follows, and later reasoning opens a new part", () => {
  const parts = createParts();
  const events = [
    parts.show({ type: "summary_delta", text: "a" }),
    parts.show({ type: "text_delta", text: "b" }),
    parts.show({ type: "summary_delta", text: "c" }),
    parts.show({ type: "text_delta", text: "d" }),
    parts.close(),
  ].flat();
  expect(events.map((event) => [event.type, "part" in event && event.part])).toEqual([
    ["reasoning_started", 0],
    ["reasoning_delta", 0],
    ["reasoning_finished", 0],
    ["text_started", 1],
    ["text_delta", 1],
    ["reasoning_started", 2],
    ["reasoning_delta", 2],
    ["reasoning_finished", 2],
    ["text_delta", 1],
    ["text_finished", 1],
  ]);
  expect(parts.opened).toEqual([0, 1, 2]);
});

test("a provider that alternates reasoning and text opens a bounded number of parts", () => {
  const parts = createParts();
  let text = "";
  for (let at = 0; at < 1_000; at++) {
    parts.show({ type: "summary_delta", text: "?" });
    for (const event of parts.show({ type: "text_delta", text: "!" })) {
      if (event.type === "text_delta") text += event.text;
    }
  }
  expect(parts.opened).toHaveLength(65);
  expect(text).toBe("!".repeat(1_000));
});

test("reasoning that a crash cut off is finished and withdrawn with its text", () => {
  const progress = readProgress([
    { type: "run_started", runId: "run_1" as never, model: "m" },
    { type: "step_started", step: 1, messageId: "m-1" },
    { type: "reasoning_started", part: 0 },
    { type: "reasoning_finished", part: 0 },
    { type: "text_started", part: 1 },
    { type: "reasoning_started", part: 2 },
    { type: "reasoning_delta", part: 2, text: "half" },
  ]);
  const events: AiEvent[] = [];
  const journal = { append: (more: readonly AiEvent[]) => void events.push(...more) };
  withdrawPartialText(journal, { ...newRunMemory([]), progress });
  expect(typesOf(events)).toEqual(["reasoning_finished", "text_finished", "text_withdrawn"]);
  expect(events.at(-1)).toEqual({ type: "text_withdrawn", parts: [0, 1, 2] });
  expect(progress.nextPart).toBe(3);
});
