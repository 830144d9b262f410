import type { ServerResponse } from "node:http";
import { expect } from "vitest";
import { createHttpModel, type HttpModelOptions } from "../../../src/adapters/model/http-model.ts";
import type { ModelRequest } from "../../../src/capabilities/model.ts";
import type { ModelEvent, ModelAnswer } from "../../../src/protocol/model/event.ts";
import { declareModel } from "../../../src/protocol/model/declare-model.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { startLoopback } from "./loopback.ts";

export const KEY = "sk-loopback-0123456789";
export const TEXT = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
export const FINISH = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
export const DONE = "data: [DONE]\n\n";
export const REQUEST: ModelRequest = {
  model: "test-model",
  messages: [{ role: "user", text: "Hello" }],
  tools: [],
};

export type Answer = (response: ServerResponse) => void | Promise<void>;
export type Settings = Partial<HttpModelOptions> & {
  readonly signal?: AbortSignal;
  readonly request?: ModelRequest;
};

/** Builds a model whose provider is at this address. */
export function modelAt(baseUrl: string, settings: Partial<HttpModelOptions> = {}) {
  return createHttpModel({
    model: declareModel({ id: REQUEST.model, wire: "openai" }),
    wire: openAIWire,
    baseUrl,
    apiKey: KEY,
    fetch: (request) => fetch(request),
    ...settings,
  });
}

/** Reads one whole answer, and checks what holds for every answer. */
export async function collect(
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

/** Calls a model whose provider sends this answer to each request. */
export async function ask(answer: Answer, settings: Settings = {}) {
  await using server = await startLoopback(answer);
  return { ...(await collect(`${server.origin}/v1`, settings)), requests: server.requests };
}

/**
 * Returns an answer whose parts are there when it is read, one part a read. It stays open.
 * Without a network, so that a busy machine cannot delay a part.
 */
export function sentAtOnce(...parts: readonly string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Answers with this body, with or without a content type. */
export function body(text: string, contentType?: string): Answer {
  return (response) => {
    response.writeHead(200, contentType === undefined ? {} : { "content-type": contentType });
    response.end(text);
  };
}
