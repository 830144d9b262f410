import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createKeyMask } from "../../../src/adapters/model/mask-key.ts";
import type { ModelAnswer, ModelEvent } from "../../../src/protocol/model/event.ts";
import type { ToolCallId } from "../../../src/protocol/identity/ids.ts";

const KEY = "aab-aab-aac";
const MASKED_ID = "id-•••" as ToolCallId;

function answerOf(text: string, more: Partial<ModelAnswer> = {}): ModelEvent {
  return { type: "answer", answer: { text, toolCalls: [], finish: "stop", ...more } };
}

/** Sends a text in pieces; answers the shown pieces and the shown answer. */
function show(pieces: readonly string[], key = KEY) {
  const mask = createKeyMask(key)();
  const deltas = pieces.map((text): ModelEvent => ({ type: "text_delta", text }));
  const events = [...deltas, answerOf(pieces.join(""))].flatMap((event) => mask([event]));
  const last = events.at(-1);
  if (last?.type !== "answer") throw new Error("no answer");
  const shown = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : []));
  return { shown, answer: last.answer.text };
}

/** Covers each stretch of occurrences that overlap, found by one search after the other. */
function coverEach(text: string, key: string): string {
  let shown = "";
  let end = 0;
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + 1)) {
    if (at >= end) shown += `${text.slice(end, at)}•••`;
    end = at + key.length;
  }
  return shown + text.slice(end);
}

test("a key is masked wherever its text is cut", () => {
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
    fc.property(key, pieces, (secret, texts) => {
      const { shown, answer } = show([...texts, secret, ...texts], secret);
      expect(shown.join("")).toBe(answer);
      expect(answer).not.toContain(secret);
      expect(answer).toBe(coverEach([...texts, secret, ...texts].join(""), secret));
    }),
  );
});

test("text that cannot begin the key is shown at once, in its own pieces", () => {
  expect(show(["Hi", " there", "!"]).shown).toEqual(["Hi", " there", "!"]);
});

test("a key is masked in calls and failures, and what holds it verbatim is dropped", () => {
  const mask = createKeyMask(KEY)();
  const call = {
    toolCallId: `id-${KEY}` as ToolCallId,
    name: KEY,
    argumentsText: `{"x":"${KEY}"}`,
    truncated: false,
  };
  const opaque = { wire: "openai", model: "m", items: [{ sealed: `x${KEY}` }] };
  const failure = { code: "upstream_status", detail: `the key ${KEY} is wrong` } as const;
  const [masked] = mask([answerOf("", { toolCalls: [call], opaque, failure })]);
  expect(JSON.stringify(masked)).not.toContain(KEY);
  expect(masked).toEqual(
    answerOf("", {
      toolCalls: [{ ...call, toolCallId: MASKED_ID, name: "•••", argumentsText: '{"x":"•••"}' }],
      failure: { ...failure, detail: "the key [key removed]" },
    }),
  );
  const clean = { ...opaque, items: [{ sealed: "x" }] };
  expect(mask([answerOf("", { opaque: clean })])).toEqual([answerOf("", { opaque: clean })]);
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
    const [masked] = createKeyMask(key)()([answerOf("", { toolCalls: [call] })]);
    return masked?.type === "answer" ? masked.answer.toolCalls[0]?.argumentsText : undefined;
  };
  expect(argumentsOf(`{"x":"a ${escaped.join("")}"}`)).toBe('{"x":"a •••"}');
  expect(argumentsOf('{"x":"sk\\/aab-aac"}')).toBe('{"x":"•••"}');
  expect(argumentsOf(`{"${escaped.join("")}":1}`)).toBe('{"•••":1}');
  // Other escapes, and text that is no JSON, stay as they are.
  expect(argumentsOf('{"x": "a\\nb"}')).toBe('{"x": "a\\nb"}');
  expect(argumentsOf('{"x":"\\')).toBe('{"x":"\\');
});

test("encoded forms of a key are masked too, wherever their text is cut", () => {
  const key = "sk/aab+aac";
  for (const form of [btoa(key), btoa(`x${key}`).slice(2, -2), encodeURIComponent(key)]) {
    for (let cut = 0; cut <= form.length; cut++) {
      const { shown, answer } = show([`a ${form.slice(0, cut)}`, `${form.slice(cut)} b`], key);
      expect(answer).toMatch(/^a •••\S{0,4} b$/);
      expect(shown.join("")).toBe(answer);
    }
  }
});
