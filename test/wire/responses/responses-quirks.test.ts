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

  test("without arguments run only where their item is completed", () => {
    const blank = (more: object) => call({ arguments: "", ...more });
    const added = item("added", blank({ status: "in_progress" }));
    const listed = (status?: string) => ended({ output: [blank({ status })] });
    const cases: readonly (readonly [boolean, readonly object[]])[] = [
      [true, [added, ended({ output: [] })]],
      [true, [added, item("done", blank({ status: "in_progress" })), ended()]],
      [true, [listed("in_progress")]],
      [true, [added, listed("in_progress")]],
      [false, [added, item("done", blank({})), ended()]],
      [false, [added, item("done", blank({ status: undefined })), ended()]],
      [false, [added, listed("completed")]],
      [false, [listed()]],
    ];
    for (const [truncated, events] of cases) {
      expect(decode(...events).toolCalls, JSON.stringify(events)).toMatchObject([{ truncated }]);
    }
    const whole = ended({ output: [call({ status: "in_progress" })] });
    expect(decode(whole).toolCalls, "in the terminal event alone").toMatchObject([
      { truncated: true },
    ]);
    expect(decode(item("done", call({ status: "in_progress" })), whole).toolCalls).toMatchObject([
      { truncated: false },
    ]);
  });

  test("that contradict themselves are ambiguous", () => {
    const other = { arguments: '{"on":false}' };
    const cases: readonly (readonly object[])[] = [
      [item("done", call()), ended({ output: [call(other)] })],
      [item("done", call()), item("done", call(other)), ended()],
      [item("done", call()), ended({ output: [call({ id: "x", call_id: "b", ...other })] })].map(
        (event) => JSON.parse(JSON.stringify(event).replaceAll("call_id", "no_id")) as object,
      ),
      [item("added", call({ arguments: "" })), item("done", call({ name: "fan__set" })), ended()],
      [item("done", call()), ended({ output: [call(), call({ id: "x", call_id: "b" })] })],
      [
        item("done", call()),
        item("done", call({ id: "x", call_id: "b" }), { output_index: 1 }),
        ended({ output: [call()] }),
      ],
    ];
    for (const events of cases) {
      const answer = read(...events);
      expect(answer, JSON.stringify(events)).toMatchObject({
        toolCalls: [],
        error: "upstream_ambiguous",
      });
    }
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

describe("text", () => {
  const message = (text: string, more: object = {}) => ({
    type: "message",
    id: "m",
    content: [{ type: "output_text", text }],
    ...more,
  });
  const delta = (text: string, more: object = {}) => ({
    type: "response.output_text.delta",
    output_index: 0,
    item_id: "m",
    delta: text,
    ...more,
  });

  test("that is repeated after its item is done is shown once", () => {
    const once = [
      item("added", message("")),
      delta("Good "),
      delta("day"),
      item("done", message("Good day")),
    ];
    const listed = ended({ output: [message("Good day", { id: "x" })] });
    expect(read(...once, delta("Good "), delta("day"), listed).text).toBe("Good day");
    expect(read(...once, ...once, ended()).text).toBe("Good day");
    expect(read(...once, item("done", message("Good day", { id: "y" })), listed).text).toBe(
      "Good day",
    );
  });

  test("of another message under the keys of the former one is shown whole", () => {
    const first = item("done", message("Good day"));
    const second = [item("added", message("")), delta("Good "), delta("night")];
    expect(read(first, ...second, item("done", message("Good night")), ended()).text).toBe(
      "Good dayGood night",
    );
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
  const decoder = new AnswerDecoder(responsesWire.createDecoder());
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
