import { toJsonSchema } from "@valibot/to-json-schema";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { ToolCallId, ToolId } from "../../../src/protocol/identity/ids.ts";
import type { JsonSchema7, ToolSpec } from "../../../src/protocol/tool/spec.ts";
import type { TranscriptMessage } from "../../../src/protocol/conversation/message.ts";
import { encodeMessages, encodeTools } from "../../../src/wire/openai/openai-tool-encoder.ts";
import { bytesOf, decodePieces } from "../model/decode-stream.ts";

const id = (text: string) => text as ToolCallId;

function spec(inputSchema: JsonSchema7): ToolSpec {
  return {
    name: "lamp__set" as ToolId,
    version: "1.0.0",
    description: "Sets a lamp.",
    inputSchema,
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
}

function object(properties: JsonSchema7, required: readonly string[]): JsonSchema7 {
  return { type: "object", properties, required, additionalProperties: false };
}

const optionalLamp = object(
  {
    room: { type: "string" },
    level: { type: "integer", minimum: 0, maximum: 9 },
    mode: { enum: ["warm", "cold"] },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
  },
  ["room"],
);

/** Encodes one tool and gives what its parameters became. */
function encode(inputSchema: JsonSchema7, strict = true) {
  const [tool] = encodeTools([spec(inputSchema)], strict).tools;
  return { strict: tool?.function.strict, parameters: tool?.function.parameters };
}

function restore(inputSchema: JsonSchema7, argumentsText: string): string {
  return encodeTools([spec(inputSchema)], true).restoreArguments("lamp__set", argumentsText);
}

describe("tools", () => {
  test("a tool has exactly the keys that the API knows", () => {
    const { tools } = encodeTools([spec(object({ room: { type: "string" } }, ["room"]))], true);
    expect(tools).toStrictEqual([
      {
        type: "function",
        function: {
          name: "lamp__set",
          description: "Sets a lamp.",
          parameters: object({ room: { type: "string" } }, ["room"]),
          strict: true,
        },
      },
    ]);
  });

  test("without strict the schema goes out as it is and no strict key with it", () => {
    const { tools } = encodeTools([spec(optionalLamp)], false);
    expect(Object.keys(tools[0]?.function ?? {})).toEqual(["name", "description", "parameters"]);
    expect(tools[0]?.function.parameters).toBe(optionalLamp);
  });

  test("strict makes optional properties required and nullable", () => {
    expect(encode(optionalLamp)).toStrictEqual({
      strict: true,
      parameters: object(
        {
          room: { type: "string" },
          level: { type: ["integer", "null"], minimum: 0, maximum: 9 },
          mode: { anyOf: [{ type: "string", enum: ["warm", "cold"] }, { type: "null" }] },
          note: { anyOf: [{ type: "string" }, { type: "null" }] },
        },
        ["room", "level", "mode", "note"],
      ),
    });
  });

  test("strict reaches into objects, lists and nullable objects", () => {
    const inner = object({ n: { type: "number" } }, []);
    const strictInner = object({ n: { type: ["number", "null"] } }, ["n"]);
    const schema = object(
      {
        one: inner,
        many: { type: "array", items: inner, maxItems: 3 },
        maybe: { anyOf: [inner, { type: "null" }] },
      },
      ["one", "many", "maybe"],
    );
    expect(encode(schema).parameters).toStrictEqual(
      object(
        {
          one: strictInner,
          many: { type: "array", items: strictInner, maxItems: 3 },
          maybe: { anyOf: [strictInner, { type: "null" }] },
        },
        ["one", "many", "maybe"],
      ),
    );
  });

  test("a property named __proto__ stays a property", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":[],"additionalProperties":false}',
    ) as JsonSchema7;
    expect(JSON.stringify(encode(schema).parameters)).toContain(
      '"properties":{"__proto__":{"type":["string","null"]}},"required":["__proto__"]',
    );
  });

  const inner = object({ n: { type: "number" } }, []);
  const deep = Array.from({ length: 11 }).reduce<JsonSchema7>(
    (schema) => object({ in: schema }, ["in"]),
    { type: "string" },
  );
  test.for<[string, JsonSchema7]>([
    ["an open object", { type: "object", properties: {} }],
    [
      "an object with a schema for the rest",
      { ...inner, additionalProperties: { type: "string" } },
    ],
    ["an open object inside", object({ a: { type: "object", properties: {} } }, ["a"])],
    ["a root that is no object", { type: "array", items: { type: "string" } }],
    ["a root that is a union", { anyOf: [inner, inner] }],
    ["a default", object({ a: { type: "string", default: "x" } }, [])],
    ["a string with a length", object({ a: { type: "string", minLength: 1 } }, ["a"])],
    ["an unknown format", object({ a: { type: "string", format: "color" } }, ["a"])],
    ["a pattern that looks around", object({ a: { type: "string", pattern: "(?=x)" } }, ["a"])],
    ["a value of any type", object({ a: {} }, ["a"])],
    ["a reference", object({ a: { $ref: "#/definitions/a" } }, ["a"])],
    ["a tuple", object({ a: { type: "array", items: [{ type: "string" }] } }, ["a"])],
    [
      "a list of unique items",
      object({ a: { type: "array", items: inner, uniqueItems: true } }, ["a"]),
    ],
    ["a union of two structures", object({ a: { anyOf: [inner, inner] } }, ["a"])],
    ["allOf", object({ a: { allOf: [inner] } }, ["a"])],
    ["a type made up", object({ a: { type: "constructor" } }, ["a"])],
    ["an enum of several types", object({ a: { enum: ["x", 1] } }, ["a"])],
    ["nesting past the limit", deep],
  ])("%s goes out without strict, unchanged", ([, schema]) => {
    expect(encode(schema)).toStrictEqual({ strict: undefined, parameters: schema });
  });
});

describe("restored arguments", () => {
  test("a null for an optional property is dropped", () => {
    expect(restore(optionalLamp, '{"room":"den","level":null,"mode":null}')).toBe('{"room":"den"}');
  });

  test("a null that the contract allows stays, and so does the text", () => {
    const text = '{ "room": "den", "note": null }';
    expect(restore(optionalLamp, text)).toBe(text);
  });

  test("a null for a required property stays for validation to refuse", () => {
    expect(restore(optionalLamp, '{"room":null}')).toBe('{"room":null}');
  });

  test("nulls inside lists and nested objects are found", () => {
    const inner = object({ n: { type: "number" } }, []);
    const schema = object(
      { many: { type: "array", items: inner }, maybe: { anyOf: [inner, { type: "null" }] } },
      ["many", "maybe"],
    );
    expect(restore(schema, '{"many":[{"n":null},{"n":1},{"n":null}],"maybe":{"n":null}}')).toBe(
      '{"many":[{},{"n":1},{}],"maybe":{}}',
    );
  });

  test("foreign keys, also __proto__, survive a restoration", () => {
    expect(restore(optionalLamp, '{"__proto__":{"x":null},"level":null,"other":null}')).toBe(
      '{"__proto__":{"x":null},"other":null}',
    );
  });

  test.for(["", " ", "null", "[null]", '{"level":null', '{"level":null}}', '"null"'])(
    "text that is no object stays: %j",
    (text) => {
      expect(restore(optionalLamp, text)).toBe(text);
    },
  );

  test("arguments too deep to write again stay as they are", () => {
    const text = `{"level":null,"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    expect(restore(optionalLamp, text)).toBe(text);
  });

  test("another tool's arguments, and those of a tool sent without strict, stay", () => {
    const { restoreArguments } = encodeTools([spec(optionalLamp)], false);
    expect(restoreArguments("lamp__set", '{"level":null}')).toBe('{"level":null}');
    const strict = encodeTools([spec(optionalLamp)], true);
    expect(strict.restoreArguments("toString", '{"level":null}')).toBe('{"level":null}');
  });

  test("the decoder's result is restored already", () => {
    const { restoreArguments } = encodeTools([spec(optionalLamp)], true);
    const sse = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"lamp__set","arguments":"{\\"room\\":\\"den\\",\\"level\\":null}"}}]},"finish_reason":"tool_calls"}]}\n\n`;
    const answer = decodePieces([bytesOf(sse)], { restoreArguments });
    expect(answer.toolCalls[0]?.argumentsText).toBe('{"room":"den"}');
  });

  test("any arguments of a contract come back from their strict form", () => {
    const contract = v.strictObject({
      room: v.string(),
      level: v.optional(v.number()),
      mode: v.optional(v.picklist(["warm", "cold"])),
      note: v.optional(v.nullable(v.string())),
      scenes: v.optional(v.array(v.strictObject({ at: v.optional(v.boolean()) }))),
    });
    const schema = toJsonSchema(contract, { target: "draft-07" }) as JsonSchema7;
    expect(encode(schema).strict).toBe(true);
    const scene = fc.record({ at: fc.boolean() }, { requiredKeys: [] });
    const args = fc.record(
      {
        room: fc.string(),
        level: fc.integer(),
        mode: fc.constantFrom("warm", "cold"),
        note: fc.option(fc.string()),
        scenes: fc.array(scene, { maxLength: 3 }),
      },
      { requiredKeys: ["room", "note"] },
    );
    const comesBack = fc.property(args, (given) => {
      const strict = {
        level: null,
        mode: null,
        ...given,
        scenes: given.scenes?.map((one) => ({ at: null, ...one })) ?? null,
      };
      const restored: unknown = JSON.parse(restore(schema, JSON.stringify(strict)));
      expect(restored).toEqual(JSON.parse(JSON.stringify(given)));
      expect(v.is(contract, restored)).toBe(true);
    });
    fc.assert(comesBack);
  });
});

describe("messages", () => {
  test("each role has exactly the keys that the API knows", () => {
    const messages: readonly TranscriptMessage[] = [
      { role: "system", text: "Be brief." },
      { role: "user", text: "Light!" },
      {
        role: "assistant",
        text: "",
        toolCalls: [{ toolCallId: id("call_1"), name: "lamp__set", argumentsText: '{"on":true}' }],
      },
      { role: "tool", toolCallId: id("call_1"), name: "lamp__set", result: { done: true } },
      { role: "assistant", text: "Lit.", toolCalls: [] },
    ];
    expect(encodeMessages(messages)).toStrictEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Light!" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "lamp__set", arguments: '{"on":true}' },
          },
        ],
      },
      {
        role: "tool",
        tool_call_id: "call_1",
        content:
          '<tool_output kind="data" tool="lamp__set" call="call_1">\n{"done":true}\n</tool_output>',
      },
      { role: "assistant", content: "Lit." },
    ]);
  });

  test("text beside calls is kept", () => {
    const call = { toolCallId: id("a"), name: "lamp__set", argumentsText: "{}" };
    const [message] = encodeMessages([{ role: "assistant", text: "So:", toolCalls: [call] }]);
    expect(message?.content).toBe("So:");
  });

  test.for([
    ["functions.lamp set", "functions_lamp_set"],
    ["", "unknown"],
    ["x".repeat(70), "x".repeat(64)],
  ])("a made-up name %j is sent back as one the API takes", ([name = "", sent]) => {
    const call = { toolCallId: id("a"), name, argumentsText: "{}" };
    const [message] = encodeMessages([{ role: "assistant", text: "", toolCalls: [call] }]);
    expect(message).toMatchObject({ tool_calls: [{ function: { name: sent } }] });
  });
});
