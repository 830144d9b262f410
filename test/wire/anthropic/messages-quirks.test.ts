import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { AnswerDecoder } from "../../../src/wire/model/answer-decoder.ts";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import { answerOf, bytesOf, decodePieces, summarise } from "../model/decode-stream.ts";

const author = { wire: "anthropic", model: "m" };

function decode(...events: readonly object[]) {
  const sse = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return decodePieces([bytesOf(sse)], { wire: anthropicWire, author });
}

function block(index: number, start: object, ...deltas: readonly object[]): readonly object[] {
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function end(stop_reason: string, usage: object = {}): readonly object[] {
  return [{ type: "message_delta", delta: { stop_reason }, usage }, { type: "message_stop" }];
}

const tool = (id: string, more: object = {}) => ({
  type: "tool_use",
  id,
  name: "lamp__set",
  input: {},
  ...more,
});
const input = (partial_json: string) => ({ type: "input_json_delta", partial_json });

describe("calls", () => {
  test("only a call with the caller direct is listed", () => {
    const program = { caller: { type: "code_execution_20250825", tool_id: "x" } };
    const mixed = decode(
      ...block(0, tool("a", { caller: { type: "direct" } })),
      ...block(1, tool("b", program), input("{}")),
      ...end("tool_use"),
    );
    expect(mixed.toolCalls.map(({ toolCallId }) => toolCallId)).toEqual(["a"]);
    expect(mixed.opaque).toBeUndefined();
    const alone = decode(...block(0, tool("b", program)), ...end("tool_use"));
    expect(alone).toMatchObject({ toolCalls: [], failure: { code: "upstream_error_event" } });
  });

  test("without input are empty only where the message ended well", () => {
    const silent = block(0, tool("a"), input(""));
    const truncated = (...events: readonly object[]) =>
      decode(...silent, ...events).toolCalls.map((call) => call.truncated);
    expect(truncated(...end("tool_use"))).toEqual([false]);
    expect(truncated({ type: "message_stop" })).toEqual([true]);
    expect(truncated(...end("max_tokens"))).toEqual([true]);
  });

  test("of a message that begins anew never run", () => {
    const start = { type: "message_start", message: { usage: {} } };
    const whole = [...block(0, tool("b"), input('{"on":true}')), ...end("tool_use")];
    expect(decode(start, start, ...whole).toolCalls).toHaveLength(1);
    const [begin = {}, half = {}] = block(0, tool("a"), input('{"on":'));
    const { failure, toolCalls } = decode(start, begin, half, start, ...whole);
    expect([failure?.code, toolCalls]).toEqual(["upstream_error_event", []]);
  });

  test("tools of the provider are no calls", () => {
    const server = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
    const answer = decode(...block(0, server, input('{"q":"x"}')), ...end("end_turn"));
    expect(summarise(answer)).toEqual({ text: "", toolCalls: [], finish: "stop" });
    expect(answer.opaque?.items).toEqual([{ ...server, input: { q: "x" } }]);
  });
});

describe("opaque blocks", () => {
  const empty = { type: "thinking", thinking: "", signature: "sig" };
  const redacted = { type: "redacted_thinking", data: "sealed" };

  test("are kept in order, redacted and empty ones too", () => {
    const { opaque, text } = decode(
      ...block(
        0,
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: "I " },
        { type: "thinking_delta", thinking: "think" },
        { type: "signature_delta", signature: "sig" },
      ),
      ...block(1, redacted),
      ...block(2, empty),
      ...block(3, { type: "text", text: "" }, { type: "text_delta", text: "Hi" }),
      ...block(4, tool("a"), input('{"on":'), input("true}")),
      ...end("tool_use"),
    );
    expect(text).toBe("Hi");
    expect(opaque).toEqual({
      ...author,
      items: [
        { type: "thinking", thinking: "I think", signature: "sig" },
        redacted,
        empty,
        { type: "text", text: "Hi" },
        tool("a", { input: { on: true } }),
      ],
    });
  });

  test("are left out where our own message says everything", () => {
    const plain = [
      ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Hi" }),
      ...end("end_turn"),
    ];
    expect(decode(...plain).opaque).toBeUndefined();
  });

  test.each<[string, readonly object[]]>([
    ["a block that never ended", [block(1, empty)[0] ?? {}]],
    ["an unknown delta", block(1, empty, { type: "new_delta" })],
    ["input that is no object", block(1, tool("a"), input("[1]"))],
    ["a depth bomb", block(1, { ...empty, more: JSON.parse("[".repeat(70) + "]".repeat(70)) })],
    ["more than there is room for", block(1, { ...empty, data: "x".repeat(2 * 1024 * 1024) })],
  ])("are dropped altogether after %s", (_, events) => {
    const answer = decode(...block(0, redacted), ...events, ...end("end_turn"));
    expect([answer.failure, answer.opaque]).toEqual([undefined, undefined]);
  });

  test("a paused answer is kept whole", () => {
    const said = block(0, { type: "text", text: "" }, { type: "text_delta", text: "Wait" });
    const answer = decode(...said, ...end("pause_turn"));
    expect([answer.finish, answer.opaque?.items]).toEqual([
      "pause",
      [{ type: "text", text: "Wait" }],
    ]);
  });
});

test("usage includes cached input, and a later report replaces the fields that it has", () => {
  const counts = {
    input_tokens: 100,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 3,
    output_tokens: 1,
  };
  const more = { output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } };
  const start = { type: "message_start", message: { usage: counts } };
  expect(decode(start, ...end("end_turn", more)).usage).toEqual({
    inputTokens: 123,
    outputTokens: 50,
    cachedInputTokens: 20,
    cacheWriteTokens: 3,
    reasoningTokens: 40,
  });
  expect(decode(start).usage, "the first report alone is not final").toBeUndefined();
});

test("a whole message in one document is read like a stream", () => {
  const message: JsonObject = {
    type: "message",
    content: [{ type: "text", text: "Now." }, tool("a", { input: { on: true } })],
    stop_reason: "tool_use",
    usage: { input_tokens: 3, output_tokens: 4 },
  };
  const decoder = new AnswerDecoder(anthropicWire.createDecoder());
  expect(summarise(answerOf(decoder.feedAnswer(JSON.stringify(message))))).toEqual({
    text: "Now.",
    toolCalls: [{ id: "a", name: "lamp__set", arguments: { on: true } }],
    finish: "tool_calls",
    usage: { prompt: 3, completion: 4 },
  });
});

test("a stream without a final report of its usage has none", () => {
  const start = {
    type: "message_start",
    message: { usage: { input_tokens: 10, output_tokens: 1 } },
  };
  const text = block(0, { type: "text", text: "" }, { type: "text_delta", text: "Good evening" });
  const finish = { type: "message_delta", delta: { stop_reason: "end_turn" } };
  for (const usage of [undefined, null, {}, { input_tokens: 10 }]) {
    const answer = decode(start, ...text, { ...finish, usage }, { type: "message_stop" });
    expect(answer).toMatchObject({ text: "Good evening", finish: "stop" });
    expect(answer.usage).toBeUndefined();
  }
});

test("an answer with more blocks than any answer has is an error", () => {
  const start = { type: "text", text: "" };
  const starts = (count: number): readonly object[] =>
    Array.from({ length: count }, (_, index) => ({
      type: "content_block_start",
      index,
      content_block: start,
    }));
  expect(decode(...starts(4_096), ...end("end_turn")).failure).toBeUndefined();
  expect(decode(...starts(4_097), ...end("end_turn")).failure).toMatchObject({
    code: "upstream_error_event",
  });
});
