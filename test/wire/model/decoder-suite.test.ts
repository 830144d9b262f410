import { describe, expect, test } from "vitest";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import { AnswerDecoder } from "../../../src/wire/model/answer-decoder.ts";
import type { ModelWire } from "../../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";
import {
  ANTHROPIC,
  CHAT,
  type PlayedAnswer,
  type PlayedWire,
  RESPONSES,
} from "../../fakes/provider-wires.ts";
import { answerOf, byteByByte, bytesOf, cutAt, decodePieces, summarise } from "./decode-stream.ts";

const LAMP = '{"room":"attic","on":true}';
const ANSWER: PlayedAnswer = {
  reasoning: "sealed",
  text: ["Grüße ", "🍳", "."],
  calls: [
    { id: "a", name: "lamp__set", args: [LAMP.slice(0, 5), LAMP.slice(5)] },
    { id: "b", name: "lamp__get", args: "{}" },
  ],
};
const EXPECTED = {
  text: "Grüße 🍳.",
  toolCalls: [
    { id: "a", name: "lamp__set", arguments: { room: "attic", on: true } },
    { id: "b", name: "lamp__get", arguments: {} },
  ],
  finish: "tool_calls",
  usage: { prompt: 10, completion: 2 },
};

describe.each<[string, ModelWire, PlayedWire]>([
  ["openai", openAIWire, CHAT],
  ["responses", responsesWire, RESPONSES],
  ["anthropic", anthropicWire, ANTHROPIC],
])("the decoder of the wire %s", (_, wire, played) => {
  const bodyOf = (answer: PlayedAnswer) => bytesOf(played.frames(answer).join(""));
  const decode = (answer: PlayedAnswer, limits = {}) =>
    decodePieces([bodyOf(answer)], { wire, limits });
  const calls = (count: number, args: string | readonly string[] = "{}", id = "c") =>
    Array.from({ length: count }, (_item, at) => ({ id: `${id}${at}`, name: "lamp__set", args }));

  test("reads the same answer wherever the network cuts", () => {
    const body = bodyOf(ANSWER);
    expect(summarise(decodePieces([body], { wire }))).toEqual(EXPECTED);
    expect(summarise(decodePieces(byteByByte(body), { wire }))).toEqual(EXPECTED);
    for (let cut = 1; cut < body.length; cut++) {
      expect(summarise(decodePieces(cutAt(body, [cut]), { wire })), `${cut}`).toEqual(EXPECTED);
    }
  });

  test("an answer that breaks off anywhere is an error or the whole answer", () => {
    const body = bodyOf(ANSWER);
    let errors = 0;
    for (let end = 0; end < body.length; end++) {
      const { finish, toolCalls } = summarise(decodePieces([body.subarray(0, end)], { wire }));
      if (finish === "error") errors++;
      expect(toolCalls).toEqual(finish === "error" ? [] : EXPECTED.toolCalls);
    }
    expect(errors).toBeGreaterThan(body.length / 2);
  });

  test("keeps nothing of one session for the next", () => {
    decode(ANSWER);
    expect(summarise(decode({ text: ["Hi"] }))).toEqual({
      text: "Hi",
      toolCalls: [],
      finish: "stop",
      usage: { prompt: 10, completion: 2 },
    });
  });

  test("refuses a body that is no stream and no answer", () => {
    for (const body of ['{"hello":1}', "[]", "[1,2]", "{", '"text"', "", "null"]) {
      const answer = answerOf(new AnswerDecoder(wire.createDecoder()).feedAnswer(body));
      expect(summarise(answer).error, body).toBe("upstream_not_a_stream");
    }
    const error = '{"error":{"message":"no such model"}}';
    const answer = answerOf(new AnswerDecoder(wire.createDecoder()).feedAnswer(error));
    expect(summarise(answer).error).toBe("upstream_error_event");
  });

  test("an error in the stream is an error, and its words stay in the detail", () => {
    const said = played.frames({ text: ["Hi"], calls: calls(1) }).slice(0, -played.closing);
    const errors = [
      'event: error\ndata: {"type":"error","error":{"message":"SECRET"}}\n\n',
      'data: {"type":"error","error":{"message":"SECRET"}}\n\n',
      'data: {"error":{"message":"SECRET"}}\n\n',
    ];
    for (const error of errors) {
      const { failure, ...answer } = decodePieces([bytesOf(said.join("") + error)], { wire });
      expect(failure).toMatchObject({ code: "upstream_error_event" });
      expect(failure?.detail).toContain("SECRET");
      expect(JSON.stringify(answer)).not.toContain("SECRET");
      expect(answer.toolCalls).toEqual([]);
    }
  });

  test("128 calls pass and 129 are too large", () => {
    expect(decode({ calls: calls(128) }).toolCalls).toHaveLength(128);
    expect(summarise(decode({ calls: calls(129) })).error).toBe("upstream_too_large");
  });

  test("lists calls with the same id one by one, and gives an id where there is none", () => {
    const same = Array.from({ length: 20 }, (_item, at) => ({
      id: "call_3",
      name: "lamp__set",
      args: `{"n":${at}}`,
    }));
    const { toolCalls } = decode({ calls: same });
    expect(toolCalls.map(({ toolCallId }) => toolCallId)).toEqual(same.map(({ id }) => id));
    const odd = ["", "  ", "x".repeat(129)].map((id) => ({ id, name: "lamp__set", args: "{}" }));
    expect(decode({ calls: odd }).toolCalls.map(({ toolCallId }) => toolCallId)).toEqual([
      "call_0",
      "call_1",
      "call_2",
    ]);
  });

  test("an own __proto__ stays plain data", () => {
    const args = '{"__proto__":{"admin":true},"a":1}';
    const { toolCalls } = decode({ calls: [{ id: "a", name: "__proto__", args }] });
    expect(toolCalls).toMatchObject([{ name: "__proto__", argumentsText: args }]);
    expect("admin" in {}).toBe(false);
  });

  test("deep nesting is kept as text, or fails the frame", () => {
    const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const [call] = decode({ calls: [{ id: "a", name: "deep", args: deep }] }).toolCalls;
    expect(call?.argumentsText).toBe(deep);
    const frame = bytesOf(`data: ${"[".repeat(1_000_000)}\n\n`);
    expect(summarise(decodePieces([frame], { wire })).error).toBe("upstream_malformed");
  });

  test("arguments past their limit truncate their call alone", () => {
    const pieces = Array.from({ length: 1_000 }, () => "x".repeat(100));
    const long = { id: "a", name: "lamp__set", args: ['{"a":"', ...pieces, '"}'] };
    const { toolCalls } = decode({ calls: [long, ...calls(1)] }, { maxArgumentsBytes: 10_000 });
    expect(toolCalls.map(({ truncated }) => truncated)).toEqual([true, false]);
  });

  test("text past its limit ends the stream", () => {
    const answer = decode({ text: ["éé", "éé"] }, { maxTextBytes: 7 });
    expect(answer).toMatchObject({ text: "éé", failure: { code: "upstream_too_large" } });
  });

  test("a call without a name fails the answer", () => {
    const nameless = [...calls(1), { id: "b", name: "", args: "{}" }];
    expect(summarise(decode({ calls: nameless })).error).toBe("upstream_malformed");
  });

  test("arguments that are JSON inside a JSON string are invalid", () => {
    const { toolCalls } = summarise(decode({ calls: calls(1, JSON.stringify(LAMP)) }));
    expect(toolCalls).toEqual([{ id: "c0", name: "lamp__set", arguments: { __invalid__: true } }]);
  });

  test("a missing or impossible usage is no usage", () => {
    expect(decode({ text: ["Hi"], tokens: null }).usage).toBeUndefined();
    expect(decode({ text: ["Hi"], tokens: [1, 1e12] }).usage).toBeUndefined();
  });

  test("opaque items are bound to their author, or absent", () => {
    const author = { wire: wire.id, model: "m" };
    const { opaque } = decodePieces([bodyOf(ANSWER)], { wire, author });
    if (wire === openAIWire) expect(opaque).toBeUndefined();
    else {
      expect(opaque).toMatchObject(author);
      expect(JSON.stringify(opaque?.items)).toContain("sealed");
    }
    expect(decodePieces([bodyOf({ ...ANSWER, calls: calls(129) })], { wire, author }).opaque).toBe(
      undefined,
    );
  });
});
