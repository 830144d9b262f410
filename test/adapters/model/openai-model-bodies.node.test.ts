import { describe, expect, test } from "vitest";
import { ask, body, DONE, FINISH, KEY, TEXT, type Answer } from "./openai-model-bench.ts";

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

describe("unexpected bodies", () => {
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

  test("a body above its limit is too large, as events and as a document", async () => {
    const limits = { maxBodyBytes: 1_000 };
    const events = body(": waiting\n\n".repeat(1_000), "text/event-stream");
    expect((await ask(events, { limits })).code).toBe("upstream_too_large");
    const document = body(`{"a":"${"x".repeat(2_000)}`, "application/json");
    expect((await ask(document, { limits })).code).toBe("upstream_too_large");
    expect((await ask(document, { limits: { maxFrameChars: 500 } })).code).toBe(
      "upstream_too_large",
    );
  });

  test("a body of white space fails without a wait", async () => {
    const blanks: Answer = (response) => {
      response.writeHead(200).write(" ".repeat(2_000));
    };
    expect((await ask(blanks, { idleTimeoutMs: 5_000 })).code).toBe("upstream_not_a_stream");
  });

  test("the key in an error event is removed, also where the event is cut for its length", async () => {
    for (const before of [0, 1_990, 8_180]) {
      const error = JSON.stringify({ error: "x".repeat(before) + KEY });
      const { answer } = await ask(body(`data: ${error}\n\n`, "text/event-stream"));
      expect(answer.failure?.detail).not.toContain(KEY.slice(0, 6));
    }
  });
});
