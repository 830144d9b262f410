import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { ModelEvent } from "../../../src/protocol/model/event.ts";
import { startLoopback } from "./loopback.ts";
import {
  ask,
  collect,
  DONE,
  FINISH,
  modelAt,
  REQUEST,
  sentAtOnce,
  TEXT,
  type Answer,
} from "./openai-model-bench.ts";

// The first request of a process is slow, and these tests measure in tens of milliseconds.
beforeAll(async () => {
  await ask((response) => void response.writeHead(204).end());
});

describe("time and aborts", () => {
  const endless: Answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(TEXT);
  };

  test("silence before the answer is a stall", async () => {
    const { code } = await ask(() => undefined, { idleTimeoutMs: 50 });
    expect(code).toBe("upstream_stalled");
  });

  test("silence in the middle is a stall, and the text so far is kept", async () => {
    const { code, answer } = await collect("http://model.test/", {
      fetch: () => Promise.resolve(sentAtOnce(TEXT)),
      idleTimeoutMs: 50,
    });
    expect([code, answer.text]).toEqual(["upstream_stalled", "Hi"]);
  });

  test.for(["text/event-stream", undefined])(
    "slow single bytes are no stall and give no empty batches, under content type %j",
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
    const model = modelAt("http://model.test/", {
      fetch: () => Promise.resolve(sentAtOnce(TEXT, FINISH + DONE)),
      idleTimeoutMs: 80,
    });
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

  test("an abort before the call sends no request", async () => {
    await using server = await startLoopback(endless);
    const { code } = await collect(server.origin, { signal: AbortSignal.abort() });
    expect([code, server.requests.length]).toEqual(["aborted", 0]);
  });

  test("an abort while waiting for the answer ends the call and the connection", async () => {
    const caller = new AbortController();
    await using server = await startLoopback(() => caller.abort());
    const { code } = await collect(server.origin, { signal: caller.signal });
    expect(code).toBe("aborted");
    await server.clientLeft;
  });

  test("an abort in the middle ends the call and the connection", async () => {
    await using server = await startLoopback(endless);
    const caller = new AbortController();
    const seen: ModelEvent[] = [];
    for await (const batch of modelAt(server.origin).stream(REQUEST, caller.signal)) {
      seen.push(...batch);
      // The next read waits by then.
      setTimeout(() => caller.abort(), 1);
    }
    const last = seen.at(-1);
    const answer = last?.type === "answer" ? last.answer : undefined;
    expect([answer?.failure?.code, answer?.text]).toEqual(["aborted", "Hi"]);
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

  test("a fetch and a body that ignore every signal are abandoned", async () => {
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
