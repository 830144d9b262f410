import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ToolCallId, ToolId } from "../../../src/protocol/identity/ids.ts";
import type { ToolSpec } from "../../../src/protocol/tool/spec.ts";
import type { TranscriptMessage } from "../../../src/protocol/conversation/message.ts";
import { createInputBound } from "../../../src/wire/model/input-bound.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { encodeMessages, encodeTools } from "../../../src/wire/openai/openai-tool-encoder.ts";

const bytesOf = (value: unknown): number =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)).length;

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("<b>&amp;</b>\u2028".repeat(50), "😀".repeat(40), "日本語".repeat(30), '"\\\n'),
);
const id = text.map((value) => value as ToolCallId);
const message: fc.Arbitrary<TranscriptMessage> = fc.oneof(
  fc.record({ role: fc.constantFrom("system" as const, "user" as const), text }),
  fc.record({
    role: fc.constant("assistant" as const),
    text,
    toolCalls: fc.array(fc.record({ toolCallId: id, name: text, argumentsText: text }), {
      maxLength: 3,
    }),
  }),
  fc.record({ role: fc.constant("tool" as const), toolCallId: id, name: text, result: text }),
);

const SPEC: ToolSpec = {
  name: "lamp__set" as ToolId,
  version: "1.0.0",
  description: "Sets a lamp — now.",
  inputSchema: {
    type: "object",
    properties: { room: { type: "string" }, mode: { enum: ["warm", "cold"] } },
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

test("a request has at most as many tokens as bytes are sent, whatever is in it", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.boolean(), (messages, hasTools) => {
      const tools = hasTools ? [SPEC] : [];
      const sent = bytesOf(encodeMessages(messages)) + bytesOf(encodeTools(tools, true).tools);
      const bound = createInputBound(openAIWire)({ messages, tools });
      expect(bound).toBeGreaterThanOrEqual(sent);
      expect(bound).toBeLessThan(sent + 64 + 16 * (messages.length + 1) + 1);
    }),
  );
});

test("each message is read once, however often the request that it is in grows", () => {
  let reads = 0;
  const said = (): TranscriptMessage => ({
    role: "user",
    get text() {
      reads++;
      return "hello";
    },
  });
  const boundOf = createInputBound(openAIWire);
  const messages: TranscriptMessage[] = [];
  const bounds = Array.from({ length: 200 }, () => {
    messages.push(said());
    return boundOf({ messages, tools: [] });
  });
  expect(reads).toBe(200);
  const [first = 0, second = 0] = bounds;
  expect(bounds.at(-1)).toBe(first + 199 * (second - first));
});
