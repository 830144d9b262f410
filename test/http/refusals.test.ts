import { MAX_BODY_BYTES } from "../../src/http/request/read-json.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { listDurableObjectIds } from "cloudflare:test";
import { bindings, postChat, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const user = (content: unknown): object => ({ messages: [{ role: "user", content }] });
const called = (toolCallId: string, args: object = {}): object => ({
  role: "assistant",
  content: [{ type: "tool-call", toolCallId, toolName: "core__calculate", args }],
});
const answered = (toolCallId: string, result: unknown = {}): object => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, result }],
});
const says = (...messages: object[]): object => ({ messages });
const more = { role: "user", content: "go on" };
const nested = (levels: number): string =>
  `{"messages":${"[".repeat(levels)}${"]".repeat(levels)}}`;

describe("refuses before any object wakes", () => {
  const cases: readonly [name: string, body: unknown, status: number, code: string][] = [
    ["a body that is no JSON", "{", 400, "invalid_json"],
    ["a body that is empty", "", 400, "invalid_json"],
    ["a depth bomb", nested(65), 400, "json_too_deep"],
    ["a depth bomb of a megabyte", "[".repeat(1024 * 1024), 400, "json_too_deep"],
    ["a key twice", '{"messages":[{"role":"user","role":"system"}]}', 400, "duplicate_key"],
    ["a __proto__ key", '{"messages":[],"__proto__":{}}', 400, "forbidden_key"],
    ["a __proto__ key deep inside", '{"a":[{"b":{"__proto__":1}}]}', 400, "forbidden_key"],
    ["a body over the limit", user("x".repeat(1024 * 1024)), 413, "body_too_large"],
    ["no messages", {}, 422, "invalid_request"],
    ["an empty conversation", says(), 422, "invalid_request"],
    ["an unknown field", { ...user("hi"), temperature: 2 }, 422, "invalid_request"],
    ["an unknown role", says({ role: "developer", content: "hi" }), 422, "invalid_request"],
    ["a principal in the body", { ...user("hi"), tenantId: "rival" }, 422, "invalid_request"],
    [
      "a tool message with two results",
      says(called("a"), { role: "tool", content: [1, 2] }),
      422,
      "invalid_request",
    ],
    [
      "an id over 128 characters",
      says(called("i".repeat(129)), answered("i".repeat(129))),
      422,
      "tool_call_id_too_long",
    ],
    [
      "arguments over 8 KB",
      says(called("a", { x: "y".repeat(8192) }), answered("a")),
      422,
      "tool_args_too_large",
    ],
    [
      "a result over 32 KB",
      says(called("a"), answered("a", "z".repeat(32 * 1024))),
      422,
      "tool_result_too_large",
    ],
    ["a result without its call", says(more, answered("a")), 422, "orphan_tool_result"],
    [
      "a result given twice",
      says(called("a"), answered("a"), answered("a")),
      422,
      "orphan_tool_result",
    ],
    ["a call without its result", says(called("a"), more), 422, "unanswered_tool_call"],
    ["a conversation that ends in a call", says(more, called("a")), 422, "unanswered_tool_call"],
    [
      "an id used twice",
      says(called("a"), answered("a"), called("a"), answered("a")),
      422,
      "duplicate_tool_call_id",
    ],
    [
      "a system message in the middle",
      says(more, { role: "system", content: "obey" }),
      422,
      "misplaced_message",
    ],
    [
      "a conversation that ends with the assistant",
      says({ role: "assistant", content: "hi" }),
      422,
      "misplaced_message",
    ],
    [
      "a model that is not offered",
      { ...user("hi"), model: "gpt-secret" },
      422,
      "model_not_allowed",
    ],
    [
      "a tool that does not exist",
      { ...user("hi"), toolIds: ["core__nothing"] },
      422,
      "tool_not_available",
    ],
    [
      "a connection id of another form",
      { ...user("hi"), connectionIds: ["a/b"] },
      422,
      "invalid_request",
    ],
    [
      "more than 16 connections",
      { ...user("hi"), connectionIds: Array.from({ length: 17 }, (_, index) => `c${index}`) },
      422,
      "invalid_request",
    ],
    [
      "a run id that was made up",
      { ...user("hi"), previousRunId: `run_${"0".repeat(32)}_${"0".repeat(32)}` },
      404,
      "run_not_found",
    ],
    [
      "a run id of another form",
      { ...user("hi"), previousRunId: "../../etc" },
      404,
      "run_not_found",
    ],
  ];
  test.each(cases)("%s", async (_name, body, status, code) => {
    const before = await listDurableObjectIds(bindings.RUNS);
    const response = await postChat(body);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect([response.status, await response.json()]).toEqual([
      status,
      expect.objectContaining({ code, status, title: expect.any(String), type: "about:blank" }),
    ]);
    expect(await listDurableObjectIds(bindings.RUNS)).toEqual(before);
  });

  test("a body that lies about its length", async () => {
    const response = await send("/v1/chat", {
      caller: "acme",
      method: "POST",
      headers: { "content-type": "application/json", "content-length": "12" },
      body: endless(),
    });
    expect([response.status, await codeOf(response)]).toEqual([413, "body_too_large"]);
  });

  test("a small body that announces more than the limit", async () => {
    const response = await send("/v1/chat", {
      caller: "acme",
      method: "POST",
      headers: { "content-type": "application/json", "content-length": "99999999" },
      body: inPieces("{}"),
    });
    expect([response.status, await codeOf(response)]).toEqual([413, "body_too_large"]);
  });

  test("a chunked body of one byte too many, and not one of the limit itself", async () => {
    const padded = (bytes: number): string => {
      const body = JSON.stringify(user(""));
      return body.replace('""', `"${"x".repeat(bytes - body.length)}"`);
    };
    for (const [bytes, status] of [
      [MAX_BODY_BYTES, 200],
      [MAX_BODY_BYTES + 1, 413],
    ] as const) {
      const response = await send("/v1/chat", {
        caller: "acme",
        method: "POST",
        headers: { "content-type": "application/json" },
        body: inPieces(padded(bytes)),
      });
      expect(response.status).toBe(status);
      await response.text();
    }
  });

  test("a chunked body that never ends", async () => {
    const response = await send("/v1/chat", {
      caller: "acme",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: endless(),
    });
    expect([response.status, await codeOf(response)]).toEqual([413, "body_too_large"]);
  });

  test("a body that is not UTF-8", async () => {
    const response = await send("/v1/chat", {
      caller: "acme",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
    });
    expect([response.status, await codeOf(response)]).toEqual([400, "invalid_encoding"]);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/json5", ""])(
    "the media type %j",
    async (type) => {
      const response = await send("/v1/chat", {
        caller: "acme",
        method: "POST",
        headers: type ? { "content-type": type } : {},
        body: "{}",
      });
      expect([response.status, await codeOf(response)]).toEqual([415, "unsupported_media_type"]);
    },
  );
});

async function codeOf(response: Response): Promise<string> {
  return (await response.json<{ code: string }>()).code;
}

/** A body whose length nobody knows beforehand. */
function inPieces(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 100_000) {
        controller.enqueue(bytes.slice(at, at + 100_000));
      }
      controller.close();
    },
  });
}

function endless(): ReadableStream<Uint8Array> {
  const block = new TextEncoder().encode(" ".repeat(64 * 1024));
  return new ReadableStream({ pull: (controller) => controller.enqueue(block) });
}
