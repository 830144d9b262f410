import { describe, expect, test } from "vitest";
import { parseArguments } from "../../../src/protocol/tool/call.ts";
import { OpenAIToolDecoder } from "../../../src/wire/openai/openai-tool-decoder.ts";
import { byteByByte, bytesOf, decodePieces, summarise, answerOf } from "../model/decode-stream.ts";

const DONE = "data: [DONE]\n\n";

function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function delta(delta: unknown, finish: string | null = null): string {
  return frame({ choices: [{ index: 0, delta, finish_reason: finish }] });
}

function calls(...fragments: readonly unknown[]): string {
  return delta({ tool_calls: fragments });
}

function call(index: unknown, args: unknown, id: unknown = `id_${String(index)}`) {
  return { index, id, function: { name: "lamp__set", arguments: args } };
}

function decode(sse: string, limits = {}) {
  return decodePieces([bytesOf(sse)], { limits });
}

describe("indices and counts", () => {
  test("an index is a name, never a size", () => {
    const indices = [1e9, 2 ** 32, -1, 0.5, 1e308, "7", true, null];
    const answer = decode(calls(...indices.map((index) => call(index, "{}"))) + DONE);
    expect(answer.toolCalls).toHaveLength(indices.length);
    expect(answer.finish).toBe("tool_calls");
  });

  test("128 calls pass and 129 are too large", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => call(index, "{}"));
    expect(decode(calls(...many(128)) + DONE).toolCalls).toHaveLength(128);
    const answer = decode(
      many(129)
        .map((one) => calls(one))
        .join("") + DONE,
    );
    expect(answer).toMatchObject({ toolCalls: [], failure: { code: "upstream_too_large" } });
  });

  test("100,000 indices in one chunk are refused at the 129th", () => {
    const many = Array.from({ length: 100_000 }, (_, index) => call(index, "{}"));
    expect(summarise(decode(calls(...many) + DONE)).error).toBe("upstream_too_large");
  });

  test("an id that a provider repeats stays, and a generated id is another one", () => {
    const given = [call(0, "{}", "call_2"), call(1, '{"n":1}', "call_2"), call(2, "{}", null)];
    const ids = decode(calls(...given) + DONE).toolCalls.map((one) => one.toolCallId);
    expect(ids).toEqual(["call_2", "call_2", "call_3"]);
  });

  test("ids that are no text, blank or too long are replaced", () => {
    const ids = [5, {}, "  ", "x".repeat(129), null];
    const answer = decode(calls(...ids.map((id, index) => call(index, "{}", id))) + DONE);
    expect(answer.toolCalls.map((one) => one.toolCallId)).toEqual(ids.map((_, n) => `call_${n}`));
  });

  test("a refused call also cancels the calls before it", () => {
    const answer = decode(calls(call(0, "{}"), call(1, "{}")) + DONE, { maxCalls: 1 });
    expect(answer.toolCalls).toEqual([]);
  });
});

describe("names in pieces", () => {
  const piece = (name: string, more: object = {}) =>
    calls({ index: 0, id: "a", function: { name, arguments: "" }, ...more });
  const named = (toolNames: readonly string[], ...pieces: readonly string[]) => {
    const rest = calls({ index: 0, function: { arguments: "{}" } });
    const answer = decodePieces([bytesOf(pieces.join("") + rest)], { toolNames });
    return answer.failure ? [answer.failure.code] : answer.toolCalls.map(({ name }) => name);
  };

  test("are joined where no piece was offered, and an equal piece is a repetition", () => {
    const pieces = [piece("lamp_"), piece("lamp_"), piece("_se"), piece("t", { id: undefined })];
    for (const offered of [["lamp__set", "lamp__get"], ["fan__set"], []]) {
      expect(named(offered, ...pieces, delta({}, "stop"))).toEqual(["lamp__set"]);
    }
    const anonymous = [piece("get_", { id: null }), piece("weather", { id: null })];
    expect(named([], ...anonymous, DONE)).toEqual(["get_weather"]);
  });

  test("are two calls where both were offered, and unclear where one was", () => {
    const anonymous = [piece("lamp", { id: null }), piece("__set", { id: null })];
    expect(named(["lamp", "__set"], ...anonymous, DONE)).toEqual(["lamp", "__set"]);
    for (const offered of [["lamp__set", "lamp"], ["__set"], ["lamp", "__set", "lamp__set"]]) {
      expect(named(offered, ...anonymous, DONE), offered.join()).toEqual(["upstream_ambiguous"]);
      const two = [piece("lamp"), piece("__set"), DONE];
      expect(named(offered, ...two), offered.join()).toEqual(["upstream_ambiguous"]);
    }
  });

  test("are not joined across ids, nor after arguments began", () => {
    expect(named(["ab"], piece("a"), piece("b", { id: "b" }), delta({}, "stop"))).toEqual([
      "a",
      "b",
    ]);
    const begun = calls({ index: 0, id: "a", function: { name: "a", arguments: "{}" } });
    expect(named(["ab"], begun, piece("b"), delta({}, "stop"))).toEqual(["a", "b"]);
  });
});

describe("a call of a kind that cannot run", () => {
  test("is named in the failure's detail", () => {
    const custom = { index: 0, id: "a", type: "custom", custom: { name: "shell", input: "rm" } };
    const { failure } = decode(calls(custom) + DONE);
    expect(failure).toMatchObject({ code: "upstream_error_event" });
    expect(failure?.detail).toMatch(/custom.*shell/);
  });
});

describe("arguments", () => {
  const endless = (chars: number) =>
    calls(call(0, '{"a":"')) +
    calls({ index: 0, function: { arguments: "x".repeat(100) } }).repeat(Math.ceil(chars / 100)) +
    calls(call(1, '{"b":1}')) +
    DONE;

  test("arguments past the limit truncate their call alone", () => {
    const answer = decode(endless(300 * 1024));
    expect(answer.toolCalls).toMatchObject([
      { toolCallId: "id_0", argumentsText: "", truncated: true },
      { toolCallId: "id_1", argumentsText: '{"b":1}', truncated: false },
    ]);
    expect(answer.finish).toBe("tool_calls");
  });

  test("the limit counts UTF-8 bytes and includes itself", () => {
    const args = '{"a":"é€🍳"}';
    const bytes = bytesOf(args).length;
    const at = (maxArgumentsBytes: number) =>
      decode(calls(call(0, args)) + DONE, { maxArgumentsBytes }).toolCalls[0]?.truncated;
    expect([at(bytes), at(bytes - 1)]).toEqual([false, true]);
  });

  test("a truncated call never becomes an empty object", () => {
    const [truncated] = decode(endless(300 * 1024)).toolCalls;
    expect(truncated && parseArguments(truncated)).toEqual({
      ok: false,
      failure: { code: "truncated" },
    });
  });

  test("four million characters in fragments of eight are assembled", () => {
    const fragments = 512 * 1024;
    const decoder = new OpenAIToolDecoder({ limits: { maxArgumentsBytes: 8 * 1024 * 1024 } });
    decoder.feed(calls(call(0, '{"a":"')));
    const eight = calls({ index: 0, function: { arguments: "abcdefgh" } });
    for (let n = 0; n < fragments / 64; n++) decoder.feed(eight.repeat(64));
    const answer = answerOf(
      decoder.feed(calls({ index: 0, function: { arguments: '"}' } }) + DONE),
    );
    expect(answer.toolCalls[0]?.argumentsText.length).toBe(fragments * 8 + 8);
  });

  test("a token limit truncates what it cut, and only that", () => {
    const truncated = (text: string) =>
      decode(calls(call(0, text)) + delta({}, "length") + DONE).toolCalls[0]?.truncated;
    expect(['{"a":1}', '{"a":', "", "  ", '{"a":1}}'].map(truncated)).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
  });

  test("blank arguments are empty only after an explicit finish", () => {
    const truncated = (end: string) => decode(calls(call(0, "")) + end).toolCalls[0]?.truncated;
    expect([delta({}, "tool_calls") + DONE, delta({}, "stop"), DONE].map(truncated)).toEqual([
      false,
      false,
      true,
    ]);
  });

  test("a key named __proto__ stays plain data", () => {
    const text = '{"__proto__":{"admin":true},"a":1}';
    const [one] = decode(calls(call(0, text)) + DONE).toolCalls;
    expect(one?.argumentsText).toBe(text);
    const args = one && parseArguments(one);
    if (!args?.ok) throw new Error("not parsed");
    expect(Object.keys(args.value)).toEqual(["__proto__", "a"]);
    expect("admin" in args.value).toBe(false);
  });

  test("deeply nested text is kept as it is", () => {
    const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    const [one] = decode(calls(call(0, deep)) + DONE, { maxArgumentsBytes: 1e6 }).toolCalls;
    expect(one?.argumentsText).toBe(deep);
  });

  test("an object too deep to write is truncated, not empty", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const sse = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"a","arguments":{"a":${deep}}}}]}}]}\n\n`;
    expect(decode(sse + DONE).toolCalls).toMatchObject([{ truncated: true }]);
  });
});

describe("bytes, lines and frames", () => {
  test("a line without end is too large, in one read and byte by byte", () => {
    const body = bytesOf(`data: ${"x".repeat(2_000)}`);
    const options = { limits: { maxFrameChars: 1_000 } };
    for (const pieces of [[body], byteByByte(body)]) {
      expect(summarise(decodePieces(pieces, options)).error).toBe("upstream_too_large");
    }
  });

  test("the frame limit includes itself, wherever the network cuts", () => {
    const data = JSON.stringify({ choices: [{ delta: { content: "hi" }, finish_reason: "stop" }] });
    const body = bytesOf(`data: ${data}\n\n`);
    for (const [maxFrameChars, finish] of [
      [data.length, "stop"],
      [data.length - 1, "error"],
    ] as const) {
      for (const pieces of [[body], byteByByte(body)]) {
        expect(decodePieces(pieces, { limits: { maxFrameChars } }).finish).toBe(finish);
      }
    }
  });

  test("many data lines of one event count together", () => {
    const sse = `${"data: 1234567890\n".repeat(1_000)}\n`;
    expect(summarise(decode(sse, { maxFrameChars: 5_000 })).error).toBe("upstream_too_large");
  });

  test("text past its limit ends the stream", () => {
    const answer = decode(delta({ content: "éé" }) + delta({ content: "éé" }) + DONE, {
      maxTextBytes: 7,
    });
    expect(answer).toMatchObject({ text: "éé", failure: { code: "upstream_too_large" } });
  });

  test("a piece of a body after the end is ignored, even past a broken line", () => {
    const decoder = new OpenAIToolDecoder({ limits: { maxFrameChars: 10 } });
    expect(answerOf(decoder.feed(`data: ${"x".repeat(100)}`)).finish).toBe("error");
    expect(decoder.finished).toBe(true);
    expect(decoder.feed("data: [DONE]\n\n")).toEqual([]);
    expect(decoder.end()).toEqual([]);
    expect(decoder.fail({ code: "aborted", detail: "" })).toEqual([]);
  });

  test("no delta holds half a character, unless the provider never sends the rest", () => {
    const decoder = new OpenAIToolDecoder();
    const halves = ["a\ud83c", "\udf73", "b\ud83c"].map((content) => delta({ content }));
    const events = decoder.feed(halves.join("") + DONE);
    const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : []));
    expect(deltas).toEqual(["a", "\ud83c\udf73", "b", "\ud83c"]);
  });

  test("bytes that are no UTF-8 become replacement characters", () => {
    const [head = "", tail = ""] = delta({ content: "a#b" }, "stop").split("#");
    const body = new Uint8Array([...bytesOf(head), 0xff, 0xc3, ...bytesOf(tail)]);
    for (const pieces of [[body], byteByByte(body)]) {
      expect(decodePieces(pieces).text).toBe("a\ufffd\ufffdb");
    }
  });

  test("a frame nested without measure is only a bad frame", () => {
    expect(summarise(decode(`data: ${"[".repeat(1_000_000)}\n\n`)).error).toBe(
      "upstream_malformed",
    );
  });
});

describe("a provider's failure text", () => {
  test("reaches the failure's detail and nothing else", () => {
    for (const sse of [
      "event: error\ndata: SECRET WORDS\n\n",
      frame({ error: { message: "SECRET WORDS" } }),
      "data: SECRET WORDS\n\n",
    ]) {
      const { failure, ...answer } = decode(sse);
      expect(failure?.detail).toContain("SECRET WORDS");
      expect(JSON.stringify({ ...answer, code: failure?.code })).not.toContain("SECRET");
    }
  });

  test("is cut to a bounded length", () => {
    const { failure } = decode(frame({ error: "x".repeat(100_000) }));
    expect(failure?.detail.length).toBeLessThan(10_000);
  });
});

describe("a whole document instead of a stream", () => {
  const answer = (body: string) => summarise(answerOf(new OpenAIToolDecoder().feedAnswer(body)));

  test("a completion is decoded like a stream", () => {
    const message = {
      content: "Now.",
      tool_calls: [{ id: "a", type: "function", function: { name: "lamp__set", arguments: "{}" } }],
    };
    const usage = { prompt_tokens: 3, completion_tokens: 4 };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    expect(answer(JSON.stringify({ object: "chat.completion", choices, usage }))).toEqual({
      text: "Now.",
      toolCalls: [{ id: "a", name: "lamp__set", arguments: {} }],
      finish: "tool_calls",
      usage: { prompt: 3, completion: 4 },
    });
  });

  test("an error is an error, anything else is no stream", () => {
    expect(answer('{"error":{"message":"no such model"}}').error).toBe("upstream_error_event");
    expect(answer('[{"error":{"code":400}}]').error).toBe("upstream_error_event");
    for (const body of ['{"hello":1}', "[]", "[1,2]", "{", '"text"', ""]) {
      expect(answer(body).error, body).toBe("upstream_not_a_stream");
    }
  });
});
