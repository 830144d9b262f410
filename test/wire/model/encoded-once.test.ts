import { describe, expect, test } from "vitest";
import type { TranscriptMessage } from "../../../src/protocol/conversation/message.ts";
import type { ToolCallId } from "../../../src/protocol/identity/ids.ts";
import type { ToolSpec } from "../../../src/protocol/tool/spec.ts";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import { encodedOnce, stringifyBody } from "../../../src/wire/model/encoded-once.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";

const STEPS = 20;
const WIRES = [openAIWire, responsesWire, anthropicWire];
const TRAITS = { strictTools: true, maxTokensField: "max_tokens" } as const;

/** Counts how often the texts that it made are read. */
class Reads {
  count = 0;

  /** An object with a field whose reads count. */
  counted<Fields extends object>(fields: Fields, name: string, value: unknown): Fields {
    return Object.defineProperty({ ...fields }, name, {
      enumerable: true,
      get: () => {
        this.count++;
        return value;
      },
    });
  }
}

/** The messages of one step: an answer with a call, and its result. */
function stepOf(reads: Reads, step: number): readonly TranscriptMessage[] {
  const toolCallId = `call_${step}` as ToolCallId;
  const call = { toolCallId, name: "core__calculate" };
  const asked = reads.counted(call, "argumentsText", `{"expression":"${step} + 1"}`);
  const answer = { role: "assistant", toolCalls: [asked] };
  const result = { role: "tool", toolCallId, name: "core__calculate" };
  return [
    reads.counted(answer, "text", `step "${step}"`),
    reads.counted(result, "result", { data: { value: step } }),
  ] as unknown as readonly TranscriptMessage[];
}

const toolOf = (reads: Reads): ToolSpec =>
  reads.counted(
    { name: "core__calculate", inputSchema: { type: "object", properties: {} } },
    "description",
    "Calculates.",
  ) as unknown as ToolSpec;

test("writes the text of what was encoded once, once", () => {
  let written = 0;
  const encode = encodedOnce((text: { readonly text: string }) => [
    { toJSON: () => `${text.text}${++written}` },
  ]);
  const message = { text: "said" };
  const body = (): string => stringifyBody({ messages: [...encode(message), ...encode(message)] });
  expect([body(), body(), written]).toEqual([
    '{"messages":["said1","said1"]}',
    '{"messages":["said1","said1"]}',
    1,
  ]);
});

describe.each(WIRES.map((wire) => [wire.id, wire] as const))("the wire %s", (_, wire) => {
  test("encodes each message and each tool once, however many steps send it", () => {
    const [first, all] = [new Reads(), new Reads()];
    const tools = [toolOf(all)];
    const messages: TranscriptMessage[] = [{ role: "user", text: "calculate" }];
    stringifyBody(
      wire.encodeRequest({ model: "m", messages: stepOf(first, 0), tools: [toolOf(first)] }, TRAITS)
        .body,
    );
    for (let step = 0; step < STEPS; step++) {
      messages.push(...stepOf(all, step));
      stringifyBody(wire.encodeRequest({ model: "m", messages, tools }, TRAITS).body);
    }
    expect(all.count).toBeLessThanOrEqual(first.count * STEPS);
  });

  test("sends the same JSON as if nothing were known", () => {
    const messages: TranscriptMessage[] = [{ role: "user", text: 'a \u2028 "quoted"\ntext' }];
    for (let step = 0; step < 3; step++) {
      messages.push(...stepOf(new Reads(), step));
      const request = { model: "m", messages, tools: [toolOf(new Reads())], temperature: 0.5 };
      const { body } = wire.encodeRequest(request, TRAITS);
      expect(stringifyBody(body)).toBe(JSON.stringify(body));
    }
  });
});
