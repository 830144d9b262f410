import { expect, test } from "vitest";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import type { ModelWire } from "../../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";
import { ANTHROPIC, CHAT, type PlayedWire, RESPONSES } from "../../fakes/provider-wires.ts";
import { bytesOf, cutAt, decodePieces } from "./decode-stream.ts";

const FRAGMENT = "lorem ipsum ";
const READ_BYTES = 16 * 1024;
const limits = { maxArgumentsBytes: 1024 * 1024 };

test.each<[string, ModelWire, PlayedWire]>([
  ["openai", openAIWire, CHAT],
  ["responses", responsesWire, RESPONSES],
  ["anthropic", anthropicWire, ANTHROPIC],
])("the wire %s reads each character of arguments a bounded number of times", (_, wire, played) => {
  const decode = (sizeKib: number): void => {
    const fragments = Array.from({ length: (sizeKib * 1024) / FRAGMENT.length }, () => FRAGMENT);
    const args = ['{"text":"', ...fragments, '"}'];
    const body = bytesOf(played.frames({ calls: [{ id: "a", name: "write", args }] }).join(""));
    const cuts = Array.from({ length: body.length / READ_BYTES }, (_cut, at) => at * READ_BYTES);
    const author = { wire: wire.id, model: "m" };
    const { toolCalls } = decodePieces(cutAt(body, cuts), { wire, author, limits });
    expect(toolCalls[0]?.argumentsText === args.join("")).toBe(true);
  };
  const small = charactersRead(() => decode(64));
  expect(small).toBeGreaterThan(64 * 1024);
  expect(charactersRead(() => decode(512)) / small).toBeLessThan(8.5);
});

/** Built-in functions whose work grows with the length of a text. */
const READERS = [
  ...(["includes", "trim", "split", "match", "replace", "replaceAll"] as const).map(
    (name) => [String.prototype, name] as const,
  ),
  [String.prototype, "toWellFormed"],
  [Array.prototype, "join"],
  [JSON, "parse"],
  [RegExp.prototype, "test"],
  [RegExp.prototype, "exec"],
  [TextEncoder.prototype, "encode"],
] as const;

/** Counts the characters that these functions get or return. Does not depend on the machine. */
function charactersRead(work: () => void): number {
  let characters = 0;
  const lengthOf = (value: unknown): number => (typeof value === "string" ? value.length : 0);
  const restored = READERS.map(([owner, name]) => {
    const original = Reflect.get(owner, name) as (...given: unknown[]) => unknown;
    const counting = function (this: unknown, ...given: unknown[]): unknown {
      const result = Reflect.apply(original, this, given);
      const isMethodOfText = owner === String.prototype;
      characters += isMethodOfText ? lengthOf(this) : lengthOf(given[0]) + lengthOf(result);
      return result;
    };
    Reflect.set(owner, name, counting);
    return () => Reflect.set(owner, name, original);
  });
  try {
    work();
  } finally {
    for (const restore of restored) restore();
  }
  return characters;
}
