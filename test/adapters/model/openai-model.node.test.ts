import { declareModel } from "../../../src/protocol/model/declare-model.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { ToolId } from "../../../src/protocol/identity/ids.ts";
import { sendEvents, startLoopback } from "./loopback.ts";
import { ask, collect, DONE, FINISH, KEY, REQUEST, TEXT } from "./openai-model-bench.ts";

describe("the request", () => {
  test("is one streaming POST with exactly these keys", async () => {
    const { requests } = await ask((response) => sendEvents(response, TEXT + FINISH + DONE));
    expect(requests).toHaveLength(1);
    const [request] = requests;
    expect(request).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
    });
    expect(JSON.parse(request?.body ?? "")).toStrictEqual({
      model: "test-model",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("sends tools as strict by default, and reverts in the arguments what strict changed", async () => {
    const tool = {
      name: "lamp__set" as ToolId,
      version: "1.0.0",
      description: "Sets a lamp.",
      inputSchema: {
        type: "object",
        properties: { on: { type: "boolean" } },
        required: [],
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
    } as const;
    const call = { index: 0, id: "a", function: { name: "lamp__set", arguments: '{"on":null}' } };
    const chunk = { choices: [{ delta: { tool_calls: [call] }, finish_reason: "stop" }] };
    await using server = await startLoopback((response) =>
      sendEvents(response, `data: ${JSON.stringify(chunk)}\n\n${DONE}`),
    );
    const argumentsOf = async (strictTools: boolean) => {
      const request = { ...REQUEST, tools: [tool] };
      const model = declareModel({ id: REQUEST.model, wire: "openai", can: { strictTools } });
      const { answer } = await collect(server.origin, { model, request });
      return answer.toolCalls[0]?.argumentsText;
    };
    expect(await argumentsOf(true)).toBe("{}");
    expect(await argumentsOf(false)).toBe('{"on":null}');
    const sent = server.requests.map(({ body }) => JSON.parse(body).tools[0].function.strict);
    expect(sent).toEqual([true, undefined]);
  });

  test("keeps the query of the base address and accepts a slash at its end", async () => {
    await using server = await startLoopback((response) => sendEvents(response, FINISH));
    await collect(`${server.origin}/v2/?api-version=7`);
    expect(server.requests[0]?.path).toBe("/v2/chat/completions?api-version=7");
  });

  test.for([
    "not a url",
    "ftp://127.0.0.1/",
    "data:text/event-stream,x",
    "",
    "http://a:b@127.0.0.1/",
  ])("an address that is not HTTP fails without a request: %j", async (baseUrl) => {
    let asked = 0;
    const fetch = () => {
      asked++;
      return Promise.reject(new Error("asked"));
    };
    expect((await collect(baseUrl, { fetch })).code).toBe("upstream_unreachable");
    expect(asked).toBe(0);
  });

  test("a key that no header can carry fails, and no failure repeats the key", async () => {
    const { answer } = await collect("http://127.0.0.1:9/", { apiKey: "sk-secret\nsk-secret" });
    expect(answer.failure?.code).toBe("upstream_unreachable");
    expect(answer.failure?.detail).not.toContain("sk-secret");
  });
});

describe("responses that are no stream", () => {
  test("an error status gives its code, its wait and its text, without the key", async () => {
    const { answer } = await ask((response) => {
      response.writeHead(429, { "retry-after": "7" });
      response.end(`{"error":"slow down, ${KEY}"}`);
    });
    expect(answer).toMatchObject({
      text: "",
      toolCalls: [],
      finish: "error",
      failure: { code: "upstream_status", status: 429, retryAfterSeconds: 7 },
    });
    expect(answer.failure?.detail).toBe('{"error":"slow down, [key removed]');
  });

  test.for([
    ["Fri, 20 Nov 2026 10:00:30 GMT", 30],
    ["Fri, 20 Nov 2026 09:00:00 GMT", 0],
    ["soon", undefined],
    ["-3", undefined],
    ["1.5", undefined],
  ] as const)("Retry-After %j means %j seconds", async ([header, seconds]) => {
    const clock = { nowMs: () => Date.UTC(2026, 10, 20, 10), schedule: () => () => undefined };
    const { answer } = await ask(
      (response) => void response.writeHead(503, { "retry-after": header }).end(),
      { clock },
    );
    expect(answer.failure?.retryAfterSeconds).toBe(seconds);
  });

  test("an endless error page is read only up to a limit", async () => {
    const { answer } = await ask((response) => {
      response.writeHead(500).write("x".repeat(100_000));
    });
    expect(answer.failure).toMatchObject({ code: "upstream_status", status: 500 });
    expect(answer.failure?.detail.length).toBeLessThanOrEqual(2_000);
  });

  test("a redirect is not followed, so the key reaches no other origin", async () => {
    await using other = await startLoopback((response) => sendEvents(response, TEXT + FINISH));
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `${other.origin}/v1/chat/completions`;
      const { answer } = await ask(
        (response) => void response.writeHead(status, { location }).end(),
      );
      expect(answer.failure).toMatchObject({ code: "upstream_status", status });
    }
    expect(other.requests).toEqual([]);
  });

  test("a port without a listener is unreachable", async () => {
    const server = await startLoopback(() => undefined);
    await server[Symbol.asyncDispose]();
    expect((await collect(server.origin)).code).toBe("upstream_unreachable");
  });

  test("a connection that closes before the answer is unreachable", async () => {
    expect((await ask((response) => void response.destroy())).code).toBe("upstream_unreachable");
  });

  test("a connection reset in the middle is truncated, and its complete call is dropped", async () => {
    const call = '{"index":0,"id":"a","function":{"name":"lamp__set","arguments":"{}"}}';
    const { answer, code } = await ask(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`${TEXT}data: {"choices":[{"delta":{"tool_calls":[${call}]}}]}\n\n${FINISH}`);
      // The reset discards what the reader has not taken yet.
      await delay(300);
      response.socket?.resetAndDestroy();
    });
    expect([code, answer.text, answer.toolCalls]).toEqual(["upstream_truncated", "Hi", []]);
  });
});

test("the openai package reads the same call from the same stream", async () => {
  const file = join(import.meta.dirname, "../../fixtures/openai/text-and-parallel-calls.json");
  const { sse } = JSON.parse(readFileSync(file, "utf8")) as { readonly sse: string };
  await using server = await startLoopback((response) => sendEvents(response, sse));
  const client = new OpenAI({ apiKey: KEY, baseURL: server.origin, maxRetries: 0 });
  const foreign = await client.chat.completions
    .stream({ model: "test-model", messages: [{ role: "user", content: "Hello" }] })
    .finalChatCompletion();
  const { answer } = await collect(server.origin);
  const message = foreign.choices[0]?.message;
  expect(answer.text).toBe(message?.content);
  expect(answer.toolCalls.map((call) => [call.toolCallId, call.name, call.argumentsText])).toEqual(
    message?.tool_calls?.map((call) =>
      call.type === "function" ? [call.id, call.function.name, call.function.arguments] : [],
    ),
  );
});
