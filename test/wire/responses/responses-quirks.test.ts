import { describe, expect, test } from "vitest";
import { AnswerDecoder } from "../../../src/wire/model/answer-decoder.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";
import { answerOf, bytesOf, decodePieces, summarise } from "../model/decode-stream.ts";

const author = { wire: "responses", model: "m" };

function decode(...events: readonly object[]) {
  const sse = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return decodePieces([bytesOf(sse)], { wire: responsesWire, author });
}

function ended(response: object = {}, status = "completed"): object {
  return { type: `response.${status}`, response: { object: "response", status, ...response } };
}

const call = (more: object = {}) => ({
  type: "function_call",
  id: "fc_1",
  call_id: "a",
  name: "lamp__set",
  arguments: '{"on":true}',
  status: "completed",
  ...more,
});
const item = (kind: "added" | "done", content: object, more: object = {}) => ({
  type: `response.output_item.${kind}`,
  output_index: 0,
  item: content,
  ...more,
});
const argument = (delta: string, more: object = { output_index: 0 }) => ({
  type: "response.function_call_arguments.delta",
  delta,
  ...more,
});
const read = (...events: readonly object[]) => summarise(decode(...events));
const ON = [{ id: "a", name: "lamp__set", arguments: { on: true } }];

describe("calls", () => {
  test("are read from their item, from the terminal event, or from both, once", () => {
    const added = item("added", call({ arguments: "", status: "in_progress" }));
    const done = item("done", call());
    const listed = ended({ output: [call()] });
    for (const events of [
      [added, done, ended()],
      [added, done, listed],
      [done, listed],
      [listed],
      [added, argument('{"on":'), argument("true}"), done, ended({ output: [] })],
      [added, argument('{"on":true}'), item("done", call({ arguments: "" })), ended()],
      [added, argument('{"o'), done, listed],
    ]) {
      expect(read(...events)).toMatchObject({ toolCalls: ON, finish: "tool_calls" });
    }
  });

  test("keep their deltas apart when item ids change or output indices repeat", () => {
    const two = { output_index: 1 };
    const rotating = [
      item("added", call({ id: "x1", arguments: "" })),
      item("added", call({ id: "x2", call_id: "b", arguments: "" }), two),
      argument('{"b":1}', { output_index: 1, item_id: "x3" }),
      argument('{"a":1}', { output_index: 0, item_id: "x4" }),
      ended(),
    ];
    const repeating = [
      item("added", call({ id: "x1", arguments: "" })),
      item("added", call({ id: "x2", call_id: "b", arguments: "" })),
      argument('{"b":1}', { output_index: 0, item_id: "x2" }),
      argument('{"a":1}', { item_id: "x1" }),
      ended(),
    ];
    for (const events of [rotating, repeating]) {
      expect(read(...events).toolCalls).toMatchObject([
        { id: "a", arguments: { a: 1 } },
        { id: "b", arguments: { b: 1 } },
      ]);
    }
  });

  test("that the provider calls incomplete never run, also when they parse", () => {
    const cut = item("done", call({ status: "incomplete" }));
    expect(decode(cut, ended()).toolCalls).toMatchObject([{ truncated: true }]);
    const silent = item("done", call({ status: undefined }));
    const reason = { incomplete_details: { reason: "max_output_tokens" } };
    expect(decode(silent, ended(reason, "incomplete"))).toMatchObject({
      finish: "length",
      toolCalls: [{ truncated: true }],
    });
    const running = item("done", call({ status: "in_progress" }));
    expect(decode(running, ended()).toolCalls).toMatchObject([{ truncated: false }]);
  });

  test("of the provider's own tools are not ours, and custom ones cannot run", () => {
    for (const type of ["web_search_call", "mcp_call", "code_interpreter_call", "program"]) {
      const own = { type, id: "x", name: "lamp__set", arguments: "{}" };
      expect(read(item("added", own), item("done", own), ended()).toolCalls).toEqual([]);
    }
    const { failure } = decode(item("added", { type: "custom_tool_call", name: "shell" }), ended());
    expect(failure).toMatchObject({ code: "upstream_error_event" });
    expect(failure?.detail).toMatch(/custom.*shell/);
  });
});

describe("ends", () => {
  test.each([
    ["max_output_tokens", "length"],
    ["max_tool_calls", "length"],
    ["content_filter", "content_filter"],
    ["context_length_exceeded", "context_window"],
    ["something_new", "length"],
    ["server_error", "error"],
  ])("incomplete because of %s is %s", (reason, finish) => {
    expect(read(ended({ incomplete_details: { reason } }, "incomplete")).finish).toBe(finish);
  });

  test("failed, cancelled and no terminal event are errors", () => {
    const error = { code: "server_error", message: "boom" };
    expect(read(ended({ error }, "failed")).error).toBe("upstream_error_event");
    expect(read(ended({}, "cancelled")).error).toBe("upstream_error_event");
    expect(read(item("done", call())).error).toBe("upstream_truncated");
    const done = bytesOf('data: {"type":"response.created"}\n\ndata: [DONE]\n\n');
    const cut = decodePieces([done], { wire: responsesWire });
    expect(cut.failure?.code).toBe("upstream_truncated");
  });

  test("a refusal is a refusal, with its words as text", () => {
    const answer = decode({ type: "response.refusal.delta", delta: "No." }, ended());
    expect([answer.text, answer.finish]).toEqual(["No.", "refusal"]);
  });
});

describe("text", () => {
  const message = (text: string) => ({
    type: "message",
    id: "m",
    content: [{ type: "output_text", text }],
  });
  const delta = (text: string) => ({
    type: "response.output_text.delta",
    output_index: 0,
    delta: text,
  });

  test("that deltas lacked is added from the item or the terminal event, once", () => {
    const listed = ended({ output: [message("Hello")] });
    for (const events of [
      [delta("Hel"), delta("lo"), listed],
      [delta("Hel"), item("done", message("Hello")), listed],
      [item("done", message("Hello")), listed],
      [listed],
    ]) {
      expect(read(...events).text).toBe("Hello");
    }
  });
});

describe("opaque items", () => {
  const reasoning = { type: "reasoning", id: "rs", summary: [], encrypted_content: "sealed" };

  test("are the done items in their order, with reasoning and phase", () => {
    const message = { type: "message", id: "m", phase: "commentary", content: [] };
    const { opaque } = decode(
      item("done", call(), { output_index: 2 }),
      item("added", { ...reasoning, encrypted_content: "half" }),
      item("done", reasoning),
      item("done", message, { output_index: 1 }),
      ended({ output: [] }),
    );
    expect(opaque).toEqual({ ...author, items: [reasoning, message, call()] });
  });

  test("are left out where nothing needs them, or where a call is not among them", () => {
    expect(decode(item("done", call()), ended()).opaque).toBeUndefined();
    const unreadable = { type: "reasoning", id: "rs", summary: [] };
    expect(decode(item("done", unreadable), item("done", call()), ended()).opaque).toBeUndefined();
    const added = item("added", call({ status: "in_progress" }), { output_index: 1 });
    expect(decode(item("done", reasoning), added, ended()).opaque).toBeUndefined();
  });
});

test("usage names its details, and a document is read like a stream", () => {
  const usage = {
    input_tokens: 30,
    input_tokens_details: { cached_tokens: 20 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 8 },
  };
  const document = { object: "response", status: "completed", output: [call()], usage };
  const decoder = new AnswerDecoder(responsesWire.createReader());
  expect(answerOf(decoder.feedAnswer(JSON.stringify(document)))).toMatchObject({
    toolCalls: [{ toolCallId: "a" }],
    finish: "tool_calls",
    usage: { inputTokens: 30, outputTokens: 9, cachedInputTokens: 20, reasoningTokens: 8 },
  });
});

test("a stream of very many items is refused", () => {
  const message = { type: "message", content: [] };
  const items = Array.from({ length: 600 }, (_, at) =>
    item("added", message, { output_index: at }),
  );
  expect(read(...items, ended()).error).toBe("upstream_error_event");
});
