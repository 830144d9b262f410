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
const read = (...events: readonly object[]) => summarise(decode(...events));

describe("calls", () => {
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
