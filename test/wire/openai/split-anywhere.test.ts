import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf, cutAt, decodePieces, summarise } from "../model/decode-stream.ts";

const toolCall = fc.record({
  name: fc.stringMatching(/^[a-z]{1,8}__[a-z]{1,8}$/),
  arguments: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
  /** Lengths of the fragments that the arguments' text is cut into. */
  fragments: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 12 }),
});
const answer = fc.record({
  text: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 5 }),
  toolCalls: fc.array(toolCall, { maxLength: 4 }),
  finish: fc.constantFrom("stop", "tool_calls", null),
  eol: fc.constantFrom("\n", "\r\n", "\r"),
  cuts: fc.array(fc.nat(), { maxLength: 30 }),
  order: fc.infiniteStream(fc.nat()),
});

test("any answer, cut into any fragments and any reads, is read as it was meant", () => {
  const readsAsMeant = fc.property(answer, ({ text, toolCalls, finish, eol, cuts, order }) => {
    const lines = text.map((content) => chunk({ content }, null));
    for (const fragment of interleave(toolCalls.map(fragmentsOf), order)) {
      lines.push(chunk({ tool_calls: [fragment] }, null));
    }
    lines.push(chunk({}, finish), "data: [DONE]");
    const body = bytesOf(lines.map((line) => line + eol + eol).join(""));
    const offsets = cuts.map((cut) => cut % body.length).sort((a, b) => a - b);
    const turn = summarise(decodePieces(cutAt(body, offsets)));
    expect(turn).toEqual({
      text: text.join(""),
      toolCalls: toolCalls.map(({ name, arguments: args }, n) => ({
        id: `id_${n}`,
        name,
        arguments: JSON.parse(JSON.stringify(args)),
      })),
      finish: toolCalls.length > 0 ? "tool_calls" : "stop",
    });
  });
  fc.assert(readsAsMeant, { numRuns: 300 });
});

function chunk(delta: unknown, finish: string | null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}`;
}

function fragmentsOf(call: { name: string; arguments: unknown; fragments: number[] }, n: number) {
  const text = JSON.stringify(call.arguments);
  const parts: unknown[] = [
    { index: n, id: `id_${n}`, type: "function", function: { name: call.name, arguments: "" } },
  ];
  let at = 0;
  for (const length of [...call.fragments, text.length]) {
    const args = text.slice(at, at + length);
    parts.push({ index: n, function: { arguments: args } });
    at += length;
  }
  return parts;
}

/** Mixes the fragments of all calls, each call's own in order. */
function interleave(queues: unknown[][], order: Iterator<number>): unknown[] {
  const rest = queues.map((queue) => queue.values());
  const mixed: unknown[] = [];
  while (rest.length > 0) {
    const pick = Number(order.next().value) % rest.length;
    const next = rest[pick]?.next();
    if (!next || next.done) rest.splice(pick, 1);
    else mixed.push(next.value);
  }
  return mixed;
}
