import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { createOpenAIModel, type OpenAIModelOptions } from "../../src/adapters/openai-model.ts";
import type { ModelRequest } from "../../src/capabilities/model.ts";
import type { ToolId } from "../../src/protocol/identity/ids.ts";
import type { ModelEvent, ModelAnswer } from "../../src/protocol/model/event.ts";
import { sendEvents, startLoopback } from "./loopback.ts";

const KEY = "sk-loopback-0123456789";
const TEXT = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
const FINISH = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
const DONE = "data: [DONE]\n\n";
const REQUEST: ModelRequest = {
  model: "test-model",
  messages: [{ role: "user", text: "Hello" }],
  tools: [],
};

type Answer = (response: ServerResponse) => void | Promise<void>;
type Settings = Partial<OpenAIModelOptions> & {
  readonly signal?: AbortSignal;
  readonly request?: ModelRequest;
};

function modelAt(baseUrl: string, settings: Partial<OpenAIModelOptions> = {}) {
  return createOpenAIModel({
    baseUrl,
    apiKey: KEY,
    fetch: (request) => fetch(request),
    ...settings,
  });
}

async function collect(
  baseUrl: string,
  { signal = new AbortController().signal, request = REQUEST, ...settings }: Settings = {},
) {
  const batches: (readonly ModelEvent[])[] = [];
  for await (const batch of modelAt(baseUrl, settings).stream(request, signal)) batches.push(batch);
  const events = batches.flat();
  const answers = events.filter((event) => event.type === "answer");
  expect(
    batches.every((batch) => batch.length > 0),
    "no empty batch",
  ).toBe(true);
  expect(answers, "exactly one answer").toHaveLength(1);
  expect(events.at(-1)?.type, "the answer is last").toBe("answer");
  expect(JSON.stringify(events), "the key in no event").not.toContain(KEY);
  const answer = answers[0]?.answer as ModelAnswer;
  return { batches, answer, code: answer.failure?.code };
}

/** Asks a model whose provider answers so, and nothing else. */
async function ask(answer: Answer, settings: Settings = {}) {
  await using server = await startLoopback(answer);
  return { ...(await collect(`${server.origin}/v1`, settings)), requests: server.requests };
}

/** A body of any kind, with or without a content type. */
function body(text: string, contentType?: string): Answer {
  return (response) => {
    response.writeHead(200, contentType === undefined ? {} : { "content-type": contentType });
    response.end(text);
  };
}

const completion = JSON.stringify({
  object: "chat.completion",
  choices: [
    {
      index: 0,
      message: {
        content: null,
        tool_calls: [{ id: "a", function: { name: "lamp__set", arguments: '{"on":true}' } }],
      },
      finish_reason: "tool_calls",
    },
  ],
});

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

  test("offers tools, strictly unless told otherwise, and restores what strict changed", async () => {
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
      lifecycle: { status: "active", sunsetDate: null, replacement: null },
      redaction: { args: [], output: [] },
    } as const;
    const call = { index: 0, id: "a", function: { name: "lamp__set", arguments: '{"on":null}' } };
    const chunk = { choices: [{ delta: { tool_calls: [call] }, finish_reason: "stop" }] };
    await using server = await startLoopback((response) =>
      sendEvents(response, `data: ${JSON.stringify(chunk)}\n\n${DONE}`),
    );
    const argumentsOf = async (settings: Settings) => {
      const request = { ...REQUEST, tools: [tool] };
      const { answer } = await collect(server.origin, { ...settings, request });
      return answer.toolCalls[0]?.argumentsText;
    };
    expect(await argumentsOf({})).toBe("{}");
    expect(await argumentsOf({ strictTools: false })).toBe('{"on":null}');
    const sent = server.requests.map(({ body }) => JSON.parse(body).tools[0].function.strict);
    expect(sent).toEqual([true, undefined]);
  });

  test("keeps the query of the base address and takes a slash at its end", async () => {
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
  ])("an address that is no provider's fails without a request: %j", async (baseUrl) => {
    let asked = 0;
    const fetch = () => {
      asked++;
      return Promise.reject(new Error("asked"));
    };
    expect((await collect(baseUrl, { fetch })).code).toBe("upstream_unreachable");
    expect(asked).toBe(0);
  });

  test("a key that no header can carry fails and is not repeated", async () => {
    const { answer } = await collect("http://127.0.0.1:9/", { apiKey: "sk-secret\nsk-secret" });
    expect(answer.failure?.code).toBe("upstream_unreachable");
    expect(answer.failure?.detail).not.toContain("sk-secret");
  });
});

describe("what a client package hides", () => {
  test("a status carries its code, its wait and its words, without the key", async () => {
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

  test("an error page without end is read only so far", async () => {
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

  test("nobody listening is unreachable", async () => {
    const server = await startLoopback(() => undefined);
    await server[Symbol.asyncDispose]();
    expect((await collect(server.origin)).code).toBe("upstream_unreachable");
  });

  test("a connection that closes before the answer is unreachable", async () => {
    expect((await ask((response) => void response.destroy())).code).toBe("upstream_unreachable");
  });

  test("a connection reset in the middle is truncated, and its whole call is not run", async () => {
    const call = '{"index":0,"id":"a","function":{"name":"lamp__set","arguments":"{}"}}';
    const { answer, code } = await ask(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`${TEXT}data: {"choices":[{"delta":{"tool_calls":[${call}]}}]}\n\n${FINISH}`);
      await delay(50);
      response.socket?.resetAndDestroy();
    });
    expect([code, answer.text, answer.toolCalls]).toEqual(["upstream_truncated", "Hi", []]);
  });
});

describe("bodies that are not what they should be", () => {
  test.for([
    ["a JSON error", "upstream_error_event", '{"error":{"message":"no"}}', "application/json"],
    ["a JSON error as a stream", "upstream_error_event", '{"error":1}', "text/event-stream"],
    ["other JSON", "upstream_not_a_stream", '{"status":"ok"}', "application/json"],
    ["broken JSON", "upstream_not_a_stream", '{"choices":[', "application/json"],
    ["HTML", "upstream_not_a_stream", "<!doctype html><p>Welcome", "text/html"],
    ["HTML as a stream", "upstream_not_a_stream", "\n <html>", "text/event-stream"],
    ["plain words", "upstream_not_a_stream", "Service is starting", "text/plain"],
    ["nothing", "upstream_not_a_stream", "", undefined],
    ["nothing as a stream", "upstream_truncated", "", "text/event-stream"],
    ["strange lines as a stream", "upstream_truncated", "hello\n\n", "text/event-stream"],
    ["an error event", "upstream_error_event", "event: error\ndata: {}\n\n", "text/event-stream"],
    ["no finish", "upstream_truncated", TEXT, "text/event-stream"],
  ] as const)("%s is %s", async ([, code, text, contentType]) => {
    expect((await ask(body(text, contentType))).code).toBe(code);
  });

  test.for([undefined, "application/json", "text/plain"])(
    "events are read under content type %j",
    async (contentType) => {
      const { answer } = await ask(body(TEXT + FINISH + DONE, contentType));
      expect(answer).toStrictEqual({ text: "Hi", toolCalls: [], finish: "stop" });
    },
  );

  test("a whole completion is decoded as an answer", async () => {
    const { answer } = await ask(body(completion, "application/json"));
    expect(answer).toMatchObject({
      finish: "tool_calls",
      toolCalls: [{ toolCallId: "a", name: "lamp__set", argumentsText: '{"on":true}' }],
    });
  });

  test("[DONE] may be missing", async () => {
    expect((await ask(body(TEXT + FINISH, "text/event-stream"))).answer.finish).toBe("stop");
  });

  test("a body past its limit is too large, as events and as a document", async () => {
    const limits = { maxBodyBytes: 1_000 };
    const events = body(": waiting\n\n".repeat(1_000), "text/event-stream");
    expect((await ask(events, { limits })).code).toBe("upstream_too_large");
    const document = body(`{"a":"${"x".repeat(2_000)}`, "application/json");
    expect((await ask(document, { limits })).code).toBe("upstream_too_large");
    expect((await ask(document, { limits: { maxFrameChars: 500 } })).code).toBe(
      "upstream_too_large",
    );
  });

  test("a body of blanks is not waited for", async () => {
    const blanks: Answer = (response) => {
      response.writeHead(200).write(" ".repeat(2_000));
    };
    expect((await ask(blanks, { idleTimeoutMs: 5_000 })).code).toBe("upstream_not_a_stream");
  });

  test("the key in an error event is removed, wherever the event is cut for its length", async () => {
    for (const before of [0, 1_990, 8_180]) {
      const error = JSON.stringify({ error: "x".repeat(before) + KEY });
      const { answer } = await ask(body(`data: ${error}\n\n`, "text/event-stream"));
      expect(answer.failure?.detail).not.toContain(KEY.slice(0, 6));
    }
  });
});

describe("time", () => {
  const endless: Answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(TEXT);
  };

  test("silence before the answer is a stall", async () => {
    const { code } = await ask(() => undefined, { idleTimeoutMs: 50 });
    expect(code).toBe("upstream_stalled");
  });

  test("silence in the middle is a stall, and what came is kept", async () => {
    const { code, answer } = await ask(endless, { idleTimeoutMs: 50 });
    expect([code, answer.text]).toEqual(["upstream_stalled", "Hi"]);
  });

  test.for(["text/event-stream", undefined])(
    "single slow bytes are no stall, and give no empty batches, under content type %j",
    async (contentType) => {
      const { answer, batches } = await ask(
        async (response) => {
          response.writeHead(200, contentType === undefined ? {} : { "content-type": contentType });
          for (const byte of Buffer.from(TEXT.replace("Hi", "Hé 🍳") + FINISH + DONE)) {
            response.write(Buffer.of(byte));
            await delay(1);
          }
          response.end();
        },
        { idleTimeoutMs: 5_000 },
      );
      expect(answer.text).toBe("Hé 🍳");
      expect(batches).toHaveLength(2);
    },
  );

  test("a slow consumer is no stall", async () => {
    await using server = await startLoopback(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(TEXT);
      await delay(20);
      response.end(FINISH + DONE);
    });
    const model = modelAt(server.origin, { idleTimeoutMs: 80 });
    let finish: string | undefined;
    for await (const batch of model.stream(REQUEST, new AbortController().signal)) {
      await delay(160);
      const last = batch.at(-1);
      if (last?.type === "answer") finish = last.answer.finish;
    }
    expect(finish).toBe("stop");
  });

  test("[DONE] ends the answer although the connection stays open", async () => {
    await using server = await startLoopback((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(TEXT + DONE);
    });
    const { answer } = await collect(server.origin);
    expect(answer.finish).toBe("stop");
    await server.clientLeft;
  });

  test("an abort before the call asks nobody", async () => {
    await using server = await startLoopback(endless);
    const { code } = await collect(server.origin, { signal: AbortSignal.abort() });
    expect([code, server.requests.length]).toEqual(["aborted", 0]);
  });

  test("an abort while waiting for the answer ends the call and the connection", async () => {
    await using server = await startLoopback(() => undefined);
    const { code } = await collect(server.origin, { signal: AbortSignal.timeout(50) });
    expect(code).toBe("aborted");
    await server.clientLeft;
  });

  test("an abort in the middle ends the call and the connection", async () => {
    await using server = await startLoopback(endless);
    const { code, answer } = await collect(server.origin, { signal: AbortSignal.timeout(50) });
    expect([code, answer.text]).toEqual(["aborted", "Hi"]);
    await server.clientLeft;
  });

  test("an abort between two reads ends the call", async () => {
    await using server = await startLoopback(endless);
    const caller = new AbortController();
    const codes: unknown[] = [];
    for await (const batch of modelAt(server.origin).stream(REQUEST, caller.signal)) {
      caller.abort();
      const last = batch.at(-1);
      if (last?.type === "answer") codes.push(last.answer.failure?.code);
    }
    expect(codes).toEqual(["aborted"]);
    await server.clientLeft;
  });

  test("a consumer that stops early closes the connection", async () => {
    await using server = await startLoopback(endless);
    for await (const batch of modelAt(server.origin).stream(
      REQUEST,
      new AbortController().signal,
    )) {
      expect(batch).toEqual([{ type: "text_delta", text: "Hi" }]);
      break;
    }
    await server.clientLeft;
  });

  test("a fetch and a body that ignore every signal are let go of", async () => {
    let cancelled = 0;
    const deaf = () => new ReadableStream<Uint8Array>({ cancel: () => void cancelled++ });
    const never = collect("http://deaf.test/", {
      fetch: () => new Promise(() => undefined),
      idleTimeoutMs: 30,
    });
    expect((await never).code).toBe("upstream_stalled");
    const silent = collect("http://deaf.test/", {
      fetch: () => Promise.resolve(new Response(deaf())),
      idleTimeoutMs: 30,
    });
    expect((await silent).code).toBe("upstream_stalled");
    expect(cancelled).toBe(1);
    const late = collect("http://deaf.test/", {
      fetch: () => delay(80).then(() => new Response(deaf())),
      idleTimeoutMs: 30,
    });
    expect((await late).code).toBe("upstream_stalled");
    await delay(120);
    expect(cancelled).toBe(2);
  });
});

test("a foreign client reads the same call from the same clean stream", async () => {
  const file = join(import.meta.dirname, "../fixtures/openai/text-and-parallel-calls.json");
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
