import { expect, test, vi } from "vitest";
import { createHttpModel } from "../../../src/adapters/model/http-model.ts";
import type { ModelAnswer } from "../../../src/protocol/model/event.ts";
import { declareModel } from "../../../src/protocol/model/declare-model.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";

const REQUEST = {
  model: "test-model",
  messages: [{ role: "user", text: "Hello" }],
  tools: [],
} as const;
const HI = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n';

/** A body that sends this and then stays open. */
function openBody(sse: string, onCancel: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(sse)),
    cancel: onCancel,
  });
}
const MODEL = declareModel({ id: REQUEST.model, wire: "openai" });

async function ask(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<ModelAnswer> {
  const model = createHttpModel({
    model: MODEL,
    wire: openAIWire,
    baseUrl: "https://provider.test/v1",
    apiKey: "sk-workerd",
    fetch: () => Promise.resolve(new Response(body)),
    idleTimeoutMs: 50,
  });
  for await (const batch of model.stream(REQUEST, signal)) {
    const last = batch.at(-1);
    if (last?.type === "answer") return last.answer;
  }
  throw new Error("no answer");
}

test("a Worker's request carries the key and follows no redirect", async () => {
  const requests: Request[] = [];
  const model = createHttpModel({
    model: MODEL,
    wire: openAIWire,
    baseUrl: "https://provider.test/v1/",
    apiKey: "sk-workerd",
    fetch: (request) => {
      requests.push(request);
      return Promise.resolve(new Response(`${HI}data: [DONE]\n\n`));
    },
  });
  const events = [];
  for await (const batch of model.stream(REQUEST, new AbortController().signal)) {
    events.push(...batch);
  }
  expect(events).toEqual([
    { type: "text_delta", text: "Hi" },
    { type: "answer", answer: { text: "Hi", toolCalls: [], finish: "stop" } },
  ]);
  expect(requests.map(({ url, method, redirect }) => [url, method, redirect])).toEqual([
    ["https://provider.test/v1/chat/completions", "POST", "manual"],
  ]);
  expect(requests[0]?.headers.get("authorization")).toBe("Bearer sk-workerd");
});

test("the longest answer goes under the name that the endpoint knows, and only when there is one", async () => {
  const sentBy = async (field: "max_tokens" | undefined, maxOutputTokens?: number) => {
    let sent: unknown;
    const model = createHttpModel({
      model: field ? { ...MODEL, can: { ...MODEL.can, maxTokensField: field } } : MODEL,
      wire: openAIWire,
      baseUrl: "https://provider.test/v1/",
      apiKey: "sk-workerd",
      fetch: async (request) => {
        sent = await request.json();
        return new Response(`${HI}data: [DONE]\n\n`);
      },
    });
    const request = { ...REQUEST, ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
    for await (const _batch of model.stream(request, new AbortController().signal));
    return Object.entries(sent as object).filter(([name]) => name.startsWith("max_"));
  };
  expect(await sentBy(undefined, 300)).toEqual([["max_completion_tokens", 300]]);
  expect(await sentBy("max_tokens", 300)).toEqual([["max_tokens", 300]]);
  expect(await sentBy(undefined)).toEqual([]);
});

test("in a Worker a stalled body ends the call and is cancelled", async () => {
  let cancelled = 0;
  const body = openBody(HI, () => void cancelled++);
  const answer = await ask(body, new AbortController().signal);
  expect([answer.failure?.code, answer.text, cancelled]).toEqual(["upstream_stalled", "Hi", 1]);
});

test("in a Worker an abort ends a read that is under way, and the body is cancelled", async () => {
  let cancelled = 0;
  const body = openBody(HI, () => void cancelled++);
  const answer = await ask(body, AbortSignal.timeout(10));
  expect([answer.failure?.code, cancelled]).toEqual(["aborted", 1]);
});

test("in a Worker [DONE] ends the call, and a body that stays open is let go", async () => {
  let cancelled = 0;
  const body = openBody(`${HI}data: [DONE]\n\n`, () => void cancelled++);
  const answer = await ask(body, new AbortController().signal);
  expect(answer.finish).toBe("stop");
  await vi.waitFor(() => expect(cancelled).toBe(1));
});

test("after [DONE] a body that ends is read to its end, so that its connection can be used again", async () => {
  let ended = false;
  const pieces = [`${HI}data: [DONE]\n\n`, ": bye\n\n"];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = pieces.shift();
      if (next !== undefined) return controller.enqueue(new TextEncoder().encode(next));
      ended = true;
      controller.close();
    },
    cancel: () => expect.fail("the body was cut off"),
  });
  expect((await ask(body, new AbortController().signal)).finish).toBe("stop");
  await vi.waitFor(() => expect(ended).toBe(true));
});

test("a model call costs one request, one abort controller and one timer", async () => {
  let [controllers, requests, timers, waiting] = [0, 0, 0, 0];
  class CountedController extends AbortController {
    constructor() {
      super();
      controllers++;
    }
  }
  const { signal } = new AbortController();
  vi.stubGlobal("AbortController", CountedController);
  const frames = new TextEncoder().encode(HI.replace(',"finish_reason":"stop"', ""));
  const end = new TextEncoder().encode(`${HI}data: [DONE]\n\n`);
  let sent = 0;
  const model = createHttpModel({
    model: MODEL,
    wire: openAIWire,
    baseUrl: "https://provider.test/v1",
    apiKey: "sk-workerd",
    fetch: () => {
      requests++;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        controller.enqueue(sent++ < 50 ? frames : end);
        if (sent > 50) controller.close();
      };
      return Promise.resolve(new Response(new ReadableStream<Uint8Array>({ pull })));
    },
    clock: {
      nowMs: () => Date.now(),
      schedule: () => {
        timers++;
        waiting++;
        let isWaiting = true;
        return () => {
          if (isWaiting) waiting--;
          isWaiting = false;
        };
      },
    },
  });
  try {
    for await (const _batch of model.stream(REQUEST, signal));
  } finally {
    vi.unstubAllGlobals();
  }
  await expect.poll(() => waiting).toBe(0);
  expect({ controllers, requests, timers }).toEqual({ controllers: 1, requests: 1, timers: 1 });
});
