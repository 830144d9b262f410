import { describe, expect, test } from "vitest";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import { AnswerDecoder } from "../../../src/wire/model/answer-decoder.ts";
import type { ModelWire } from "../../../src/wire/model/model-wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";
import { ANTHROPIC, type PlayedWire, RESPONSES } from "../../fakes/provider-wires.ts";
import { answerOf, byteByByte, bytesOf, cutAt, summaryOf } from "./decode-stream.ts";

function decode(wire: ModelWire, pieces: Iterable<Uint8Array>, limits = {}) {
  const decoder = new AnswerDecoder(wire.createDecoder(), { summaries: true, limits });
  const utf8 = new TextDecoder();
  const events = [...pieces].flatMap((piece) => decoder.feed(utf8.decode(piece, { stream: true })));
  const all = [...events, ...decoder.end()];
  return { summary: summaryOf(all), answer: answerOf(all) };
}

const readAll = (wire: ModelWire, ...events: readonly object[]) =>
  decode(wire, [bytesOf(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))]);

describe.each<[string, ModelWire, PlayedWire]>([
  ["responses", responsesWire, RESPONSES],
  ["anthropic", anthropicWire, ANTHROPIC],
])("the reasoning summary of the wire %s", (_, wire, played) => {
  const bodyOf = (summary: readonly string[]) =>
    bytesOf(played.frames({ summary, text: ["Hi."] }).join(""));

  test("is the same wherever the network cuts, and never text", () => {
    const body = bodyOf(["I weigh ", "🐑", "."]);
    const cuts = Array.from({ length: body.length - 1 }, (_item, at) => cutAt(body, [at + 1]));
    for (const pieces of [[body], byteByByte(body), ...cuts]) {
      const { summary, answer } = decode(wire, pieces);
      expect([summary, answer.text]).toEqual(["I weigh 🐑.", "Hi."]);
    }
  });

  test("past the limit of a text ends the stream", () => {
    const { answer } = decode(wire, [bodyOf(["éé", "éé"])], { maxTextBytes: 7 });
    expect(answer.failure?.code).toBe("upstream_too_large");
  });
});

describe("a summary on the wire responses", () => {
  const delta = (text: string, more: object = {}) => {
    return { type: "response.reasoning_summary_text.delta", delta: text, ...more };
  };
  const item = (...texts: readonly string[]) => {
    return { type: "reasoning", summary: texts.map((text) => ({ type: "summary_text", text })) };
  };
  const done = (...texts: readonly string[]) => {
    return { type: "response.output_item.done", item: item(...texts) };
  };
  const ended = (...output: readonly object[]) => {
    return { type: "response.completed", response: { status: "completed", output } };
  };

  test("counts once, from deltas, from its item or from the terminal event", () => {
    for (const events of [
      [delta("a"), delta("b"), done("ab"), ended(item("ab"))],
      [done("ab"), ended(item("ab"))],
      [ended(item("ab"))],
      [delta("ab"), ended()],
    ]) {
      expect(readAll(responsesWire, ...events).summary).toBe("ab");
    }
  });

  test("has a blank line between two sections and two items", () => {
    const second = { summary_index: 1 };
    const events = [delta("a"), delta("b", second), delta("c", second), done("a", "bc"), done("d")];
    expect(readAll(responsesWire, ...events, ended()).summary).toBe("a\n\nbc\n\nd");
    expect(readAll(responsesWire, ended(item("a", "b"), item("c"))).summary).toBe("a\n\nb\n\nc");
  });

  test("is read past shapes that are none", () => {
    for (const summary of ["a", null, [1, null, "a", {}, { text: 7 }]]) {
      const odd = { type: "response.output_item.done", item: { type: "reasoning", summary } };
      expect(readAll(responsesWire, odd, delta(7 as never), ended()).summary).toBe("");
    }
  });
});

test("two thinking blocks are two sections, and redacted thinking is none", () => {
  const start = (index: number, content_block: object) => {
    return { type: "content_block_start", index, content_block };
  };
  const think = (index: number, thinking: string) => {
    return { type: "content_block_delta", index, delta: { type: "thinking_delta", thinking } };
  };
  const { summary } = readAll(
    anthropicWire,
    start(0, { type: "thinking", thinking: "a" }),
    think(0, "b"),
    start(1, { type: "redacted_thinking", data: "SEALED" }),
    start(2, { type: "thinking", thinking: "" }),
    think(2, "c"),
    { type: "message_stop" },
  );
  expect(summary).toBe("ab\n\nc");
});
