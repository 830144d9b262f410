import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createKeyHider } from "../../../src/adapters/model/mask-key.ts";
import type { ModelAnswer, ModelEvent } from "../../../src/protocol/model/event.ts";
import type { ToolCallId } from "../../../src/protocol/identity/ids.ts";

const KEY = "aab-aab-aac";
const HIDDEN_ID = "id-•••" as ToolCallId;

function answerOf(text: string, more: Partial<ModelAnswer> = {}): ModelEvent {
  return { type: "answer", answer: { text, toolCalls: [], finish: "stop", ...more } };
}

/** Sends a text in pieces; answers the shown pieces and the shown answer. */
function show(pieces: readonly string[], key = KEY) {
  const hide = createKeyHider(key);
  const deltas = pieces.map((text): ModelEvent => ({ type: "text_delta", text }));
  const events = [...deltas, answerOf(pieces.join(""))].flatMap((event) => hide([event]));
  const last = events.at(-1);
  if (last?.type !== "answer") throw new Error("no answer");
  const shown = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : []));
  return { shown, answer: last.answer.text };
}

test("a key is hidden wherever its text is cut", () => {
  const text = `a ${KEY}b aab-${KEY} aab-aab-aa`;
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      const { shown, answer } = show(pieces);
      expect(shown.join("")).toBe("a •••b aab-••• aab-aab-aa");
      expect(answer).toBe(shown.join(""));
    }
  }
});

test("deltas and answer agree for any key and text", () => {
  const letters = fc.constantFrom("a", "b", "é");
  const key = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 10 });
  const pieces = fc.array(fc.string({ unit: letters, maxLength: 30 }), { maxLength: 8 });
  fc.assert(
    fc.property(key, pieces, (hidden, texts) => {
      const { shown, answer } = show([...texts, hidden, ...texts], hidden);
      expect(shown.join("")).toBe(answer);
      expect(answer).not.toContain(hidden);
      expect(answer).toBe([...texts, hidden, ...texts].join("").replaceAll(hidden, "•••"));
    }),
  );
});

test("text that cannot begin the key is shown at once, in its own pieces", () => {
  expect(show(["Hi", " there", "!"]).shown).toEqual(["Hi", " there", "!"]);
});

test("a key is hidden in calls and failures, and what holds it verbatim is dropped", () => {
  const hide = createKeyHider(KEY);
  const call = {
    toolCallId: `id-${KEY}` as ToolCallId,
    name: KEY,
    argumentsText: `{"x":"${KEY}"}`,
    truncated: false,
  };
  const opaque = { wire: "openai", model: "m", items: [{ sealed: `x${KEY}` }] };
  const failure = { code: "upstream_status", detail: `the key ${KEY} is wrong` } as const;
  const [hidden] = hide([answerOf("", { toolCalls: [call], opaque, failure })]);
  expect(JSON.stringify(hidden)).not.toContain(KEY);
  expect(hidden).toEqual(
    answerOf("", {
      toolCalls: [{ ...call, toolCallId: HIDDEN_ID, name: "•••", argumentsText: '{"x":"•••"}' }],
      failure: { ...failure, detail: "the key [key removed]" },
    }),
  );
  const clean = { ...opaque, items: [{ sealed: "x" }] };
  expect(hide([answerOf("", { opaque: clean })])).toEqual([answerOf("", { opaque: clean })]);
});

test("a placeholder such as none is no secret", () => {
  expect(show(["none of it"], "none").shown).toEqual(["none of it"]);
});

test("the escapes of JSON do not carry a key through the arguments of a call", () => {
  const key = "sk/aab-aac";
  const escaped = Array.from(
    key,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const argumentsOf = (argumentsText: string): string | undefined => {
    const call = { toolCallId: "id" as ToolCallId, name: "n", argumentsText, truncated: false };
    const [hidden] = createKeyHider(key)([answerOf("", { toolCalls: [call] })]);
    return hidden?.type === "answer" ? hidden.answer.toolCalls[0]?.argumentsText : undefined;
  };
  expect(argumentsOf(`{"x":"a ${escaped.join("")}"}`)).toBe('{"x":"a •••"}');
  expect(argumentsOf('{"x":"sk\\/aab-aac"}')).toBe('{"x":"•••"}');
  expect(argumentsOf(`{"${escaped.join("")}":1}`)).toBe('{"•••":1}');
  // Other escapes, and text that is no JSON, stay as they are.
  expect(argumentsOf('{"x": "a\\nb"}')).toBe('{"x": "a\\nb"}');
  expect(argumentsOf('{"x":"\\')).toBe('{"x":"\\');
});

test("encoded forms of a key in a text are not found, and docs/providers.md says so", () => {
  const key = "sk-aab-aac";
  expect(show([btoa(key)], key).answer).toBe(btoa(key));
});
