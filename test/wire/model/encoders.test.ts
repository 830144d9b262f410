import { describe, expect, test } from "vitest";
import type {
  OpaqueAnswer,
  TranscriptMessage,
} from "../../../src/protocol/conversation/message.ts";
import type { ToolCallId, ToolId } from "../../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import type { ToolSpec } from "../../../src/protocol/tool/spec.ts";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import { createInputBound } from "../../../src/wire/model/input-bound.ts";
import type { ModelWire, WireRequest, WireTraits } from "../../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";

const WIRES = [openAIWire, responsesWire, anthropicWire];
const TRAITS: WireTraits = { strictTools: true, maxTokensField: "max_completion_tokens" };
const LAMP: ToolSpec = {
  name: "lamp__set" as ToolId,
  version: "1.0.0",
  description: "Sets a lamp.",
  inputSchema: {
    type: "object",
    properties: { room: { type: "string" }, level: { type: "integer" } },
    required: ["room"],
    additionalProperties: false,
  },
  effect: "state_change",
  sideEffectClass: "LOW_RISK_INTERNAL",
  confirmationRequired: false,
  shownToModel: true,
  requiredScopes: [],
  requiresConnection: false,
  dataClass: "internal",
  destinations: [],
  lifecycle: { status: "active", sunsetDate: null, replacement: null },
  redaction: { args: [], output: [] },
};

const call = (id: string, argumentsText = '{"room":"attic"}', name = "lamp__set") => ({
  toolCallId: id as ToolCallId,
  name,
  argumentsText,
});
const result = (id: string): TranscriptMessage => ({
  role: "tool",
  toolCallId: id as ToolCallId,
  name: "lamp__set",
  result: { ok: true },
});
const CONVERSATION: readonly TranscriptMessage[] = [
  { role: "system", text: "Be brief." },
  { role: "user", text: "Lamps!" },
  { role: "assistant", text: "Two.", toolCalls: [call("a"), call("b", "{}")] },
  result("a"),
  result("b"),
  { role: "user", text: "And now?" },
];

function encode(
  wire: ModelWire,
  messages: readonly TranscriptMessage[],
  more: Partial<WireRequest> = {},
  traits: Partial<WireTraits> = {},
): Record<string, unknown> {
  const request = { model: "m", messages, tools: [], ...more };
  const { body } = wire.encodeRequest(request, { ...TRAITS, ...traits });
  return JSON.parse(JSON.stringify(body)) as Record<string, unknown>;
}

const output = (id: string) =>
  `<tool_output kind="data" tool="lamp__set" call="${id}">\n{"ok":true}\n</tool_output>`;

describe("Responses", () => {
  test("a request has exactly the keys that the API knows, and stores nothing", () => {
    const body = encode(responsesWire, CONVERSATION, { tools: [LAMP], maxOutputTokens: 300 });
    expect(body).toStrictEqual({
      model: "m",
      input: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Lamps!" },
        { role: "assistant", content: "Two." },
        {
          type: "function_call",
          call_id: "a",
          name: "lamp__set",
          arguments: '{"room":"attic"}',
        },
        { type: "function_call", call_id: "b", name: "lamp__set", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: output("a") },
        { type: "function_call_output", call_id: "b", output: output("b") },
        { role: "user", content: "And now?" },
      ],
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      tools: [
        {
          type: "function",
          name: "lamp__set",
          description: "Sets a lamp.",
          parameters: {
            ...LAMP.inputSchema,
            properties: { room: { type: "string" }, level: { type: ["integer", "null"] } },
            required: ["room", "level"],
          },
          strict: true,
        },
      ],
      max_output_tokens: 300,
    });
  });

  test("a tool whose schema is not strict says so, and strict nulls are dropped again", () => {
    const { tools } = encode(responsesWire, [], { tools: [LAMP] }, { strictTools: false });
    expect(tools).toMatchObject([{ parameters: LAMP.inputSchema, strict: false }]);
    const request = { model: "m", messages: [], tools: [LAMP] };
    const { restoreArguments } = responsesWire.encodeRequest(request, TRAITS);
    expect(restoreArguments("lamp__set", '{"room":"a","level":null}')).toBe('{"room":"a"}');
  });

  test("a model that has no reasoning is not asked for it", () => {
    for (const model of ["gpt-4o", "openai/gpt-4.1-mini", "gpt-3.5-turbo"]) {
      const { body } = responsesWire.encodeRequest({ model, messages: [], tools: [] }, TRAITS);
      expect(body).not.toHaveProperty("include");
    }
  });
});

describe("Anthropic's Messages", () => {
  test("a request has exactly the keys that the API knows", () => {
    expect(encode(anthropicWire, CONVERSATION, { tools: [LAMP, LAMP] })).toStrictEqual({
      model: "m",
      max_tokens: 16_384,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: [{ type: "text", text: "Lamps!" }] },
        {
          role: "assistant",
          content: [
            { type: "text", text: "Two." },
            { type: "tool_use", id: "a", name: "lamp__set", input: { room: "attic" } },
            { type: "tool_use", id: "b", name: "lamp__set", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: output("a") },
            { type: "tool_result", tool_use_id: "b", content: output("b") },
            { type: "text", text: "And now?" },
          ],
        },
      ],
      stream: true,
      tools: [
        { name: "lamp__set", description: "Sets a lamp.", input_schema: LAMP.inputSchema },
        {
          name: "lamp__set",
          description: "Sets a lamp.",
          input_schema: LAMP.inputSchema,
          cache_control: { type: "ephemeral" },
        },
      ],
    });
  });

  test("a tool's schema says that arguments are an object", () => {
    const { type: _, ...inputSchema } = LAMP.inputSchema;
    const { tools } = encode(anthropicWire, CONVERSATION, { tools: [{ ...LAMP, inputSchema }] });
    expect(tools).toMatchObject([{ input_schema: LAMP.inputSchema }]);
  });

  test("ids and names of other providers are written in the characters that the API takes", () => {
    const messages: readonly TranscriptMessage[] = [
      { role: "user", text: "Go" },
      { role: "assistant", text: "", toolCalls: [call("functions.lamp:0", "{}", "lamp set!")] },
      result("functions.lamp:0"),
    ];
    const [, said, told] = encode(anthropicWire, messages)["messages"] as [
      unknown,
      { content: { id: string; name: string }[] },
      { content: { tool_use_id: string }[] },
    ];
    expect(said.content[0]?.id).toMatch(/^[\w-]+$/);
    expect(said.content[0]?.name).toBe("lamp_set_");
    expect(told.content[0]?.tool_use_id).toBe(said.content[0]?.id);
  });

  test("a user begins, and empty texts are left out", () => {
    const { messages } = encode(anthropicWire, [
      { role: "assistant", text: "Hi", toolCalls: [] },
      { role: "assistant", text: " ", toolCalls: [] },
      { role: "user", text: "Hello" },
    ]);
    expect((messages as { role: string }[]).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
  });
});

describe("opaque items", () => {
  const items: readonly JsonObject[] = [{ type: "thinking", thinking: "", signature: "sealed" }];
  const withOpaque = (opaque: OpaqueAnswer): readonly TranscriptMessage[] => [
    { role: "user", text: "Go" },
    { role: "assistant", text: "Said.", toolCalls: [], opaque },
  ];

  test.each(WIRES)("go verbatim to their own wire and model only: $id", (wire) => {
    const own = encode(wire, withOpaque({ wire: wire.id, model: "m", items }));
    expect(JSON.stringify(own).includes(JSON.stringify(items[0]))).toBe(wire !== openAIWire);
    expect(JSON.stringify(own).includes("Said.")).toBe(wire === openAIWire);
    const others = [
      { wire: wire.id, model: "other", items },
      { wire: "other", model: "m", items },
    ];
    for (const opaque of others) {
      const sent = JSON.stringify(encode(wire, withOpaque(opaque)));
      expect(sent).not.toContain("sealed");
      expect(sent).toContain("Said.");
    }
  });
});

describe.each(WIRES)("the wire $id", (wire) => {
  test("bounds the tokens of its own request by its bytes", () => {
    const opaque = { wire: wire.id, model: "m", items: [{ type: "x", data: "é".repeat(500) }] };
    const messages: readonly TranscriptMessage[] = [
      ...CONVERSATION,
      { role: "assistant", text: "🍳", toolCalls: [], opaque },
    ];
    const { body } = wire.encodeRequest({ model: "m", messages, tools: [LAMP] }, TRAITS);
    const bytes = new TextEncoder().encode(JSON.stringify(body)).length;
    expect(createInputBound(wire)({ messages, tools: [LAMP] })).toBeGreaterThan(bytes - 64);
  });

  test("encodes a long conversation in linear work", () => {
    const counted = (messages: number): number => {
      let reads = 0;
      const read = <T extends object>(target: T): T =>
        new Proxy(target, {
          get: (from, key, receiver) => {
            reads++;
            return Reflect.get(from, key, receiver) as unknown;
          },
        });
      const many = Array.from({ length: messages }, () => CONVERSATION)
        .flat()
        .map((message) => read(message));
      wire.encodeRequest({ model: "m", messages: many, tools: [] }, TRAITS);
      return reads;
    };
    expect(counted(400) / counted(100)).toBeCloseTo(4, 0);
  });
});
