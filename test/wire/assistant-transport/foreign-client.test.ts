import {
  AssistantMessageAccumulator,
  AssistantStream,
  AssistantTransportDecoder,
  type AssistantMessage,
} from "assistant-stream";
import { beforeAll, describe, expect, test } from "vitest";
import { EVENT_STREAM_HEADERS } from "../../../src/protocol/run/client-wire.ts";
import type { AiEvent } from "../../../src/protocol/run/event.ts";
import type { ToolCallId } from "../../../src/protocol/identity/ids.ts";
import {
  observeSuccess,
  type ObservationObject,
} from "../../../src/protocol/outcome/observation.ts";
import { encodeEvent, TRAILER } from "../../../src/wire/assistant-transport/encode-event.ts";
import { formatPacketLines } from "../../../src/protocol/approval/packet-lines.ts";
import { PACKET, SUMMARY } from "../../shared/packets.ts";
import { chat, runIdOf, seedPolicies, send } from "../../shared/worker.ts";

beforeAll(seedPolicies);

const call = (
  name: string,
  args: string,
  id: string,
): { name: string; args: string; id: string } => ({
  name,
  args,
  id,
});
const tokyo = call("core__get_current_time", '{"timeZone":"Asia/Tokyo"}', "call_a");

/** Reads a stream the way an assistant-ui client does, with the package's own code. */
async function accumulate(response: Response): Promise<AssistantMessage> {
  let last: AssistantMessage | undefined;
  const messages = AssistantStream.fromResponse(
    response,
    new AssistantTransportDecoder(),
  ).pipeThrough(new AssistantMessageAccumulator());
  for await (const message of messages) last = message;
  if (!last) throw new Error("no message");
  return last;
}

const parts = (message: AssistantMessage): readonly unknown[] =>
  message.parts.map((part) =>
    part.type === "tool-call"
      ? [
          part.toolName,
          part.state,
          JSON.parse(JSON.stringify(part.args)) as unknown,
          (part.result as never)?.["status"]?.["taxonomy_class"],
        ]
      : part.type === "text"
        ? part.text
        : part.type,
  );

test("a plain answer", async () => {
  const message = await accumulate(await chat([{ text: ["Hello", ", ", "world"] }]));
  expect(parts(message)).toEqual(["Hello, world"]);
  expect(message.status).toMatchObject({ type: "complete", reason: "stop" });
});

test("text, two tools at once, text", async () => {
  const two = call("core__calculate", '{"expression":"6*7"}', "call_b");
  const message = await accumulate(
    await chat([{ text: ["Let me see. "], calls: [tokyo, two] }, { text: ["Done."] }]),
  );
  expect(parts(message)).toEqual([
    "Let me see. ",
    ["core__get_current_time", "result", { timeZone: "Asia/Tokyo" }, "SUCCESS"],
    ["core__calculate", "result", { expression: "6*7" }, "SUCCESS"],
    "Done.",
  ]);
  expect(message.metadata.steps.length).toBe(2);
});

test("invalid arguments, then a correction", async () => {
  const wrong = call("core__get_current_time", '{"timeZone":', "call_w");
  const message = await accumulate(
    await chat([{ calls: [wrong] }, { calls: [tokyo] }, { text: ["ok"] }]),
  );
  expect(parts(message)).toEqual([
    ["core__get_current_time", "result", {}, "SYNTACTIC_PARSE_FAIL"],
    ["core__get_current_time", "result", { timeZone: "Asia/Tokyo" }, "SUCCESS"],
    "ok",
  ]);
});

test("a chain of three steps", async () => {
  const title = call("core__generate_title", '{"title":"Mine"}', "call_1");
  const sum = call("core__calculate", '{"expression":"17-9"}', "call_3");
  const message = await accumulate(
    await chat([
      { calls: [title] },
      { calls: [{ ...tokyo, id: "call_2" }] },
      { calls: [sum] },
      { text: ["ok"] },
    ]),
  );
  expect(message.parts.map(({ type }) => type)).toEqual([
    "tool-call",
    "tool-call",
    "tool-call",
    "text",
  ]);
  expect(message.status).toMatchObject({ type: "complete", reason: "stop" });
  expect(message.metadata.steps.length).toBe(4);
});

test.each(["length", "content_filter"])(
  "an answer that ends by %s is incomplete",
  async (finish) => {
    const message = await accumulate(await chat([{ text: ["half"], finish }]));
    expect(message.status).toMatchObject({ type: "incomplete", reason: finish.replace("_", "-") });
  },
);

test("a call that policy denies is a result, and the answer continues", async () => {
  const message = await accumulate(await chat([{ calls: [tokyo] }, { text: ["sorry"] }], "bare"));
  expect(parts(message)).toEqual([
    ["core__get_current_time", "result", {}, "POLICY_VIOLATION"],
    "sorry",
  ]);
});

test("a long answer", async () => {
  const message = await accumulate(await chat([{ text: ["word "], times: 500 }]));
  expect(parts(message)).toEqual(["word ".repeat(500)]);
});

test("a failure is an incomplete message with a code", async () => {
  const message = await accumulate(await chat([{ text: ["half"], garbled: true }]));
  expect(parts(message)).toEqual(["half"]);
  expect(message.status).toMatchObject({ type: "incomplete", reason: "error" });
});

test("progress, a message to the run and interleaved calls leave a message that accumulates", async () => {
  const [a, b] = ["call_a" as ToolCallId, "call_b" as ToolCallId];
  const observe = (toolCallId: ToolCallId): ObservationObject =>
    observeSuccess(
      { name: "t", version: "1", toolCallId, traceId: "r", startedAtMs: 0, endedAtMs: 5 },
      { by: toolCallId },
    );
  const usage = { inputTokens: 1, outputTokens: 1 };
  const events: readonly AiEvent[] = [
    { type: "step_started", step: 1, messageId: "m-1" },
    { type: "tool_call_proposed", part: 0, toolCallId: a, toolName: "slow" },
    { type: "tool_call_proposed", part: 1, toolCallId: b, toolName: "fast" },
    { type: "tool_call_start", part: 0, toolCallId: a, toolName: "t", args: { n: 1 } },
    { type: "tool_call_start", part: 1, toolCallId: b, toolName: "t", args: { n: 2 } },
    { type: "tool_call_progress", part: 0, toolCallId: a, stage: "reading", done: 1, total: 2 },
    { type: "user_message", text: "hurry" },
    { type: "tool_call_result", part: 1, toolCallId: b, observation: observe(b) },
    { type: "tool_call_progress", part: 0, toolCallId: a, attempt: 2 },
    { type: "tool_call_result", part: 0, toolCallId: a, observation: observe(a) },
    { type: "step_finished", step: 1, finish: "tool_calls", usage, continued: true },
    { type: "done", reason: "stop", usage },
  ];
  const body = events.map((event, index) => encodeEvent(event, { epoch: 0, seq: index + 1 }));
  const message = await accumulate(new Response(body.join(""), { headers: EVENT_STREAM_HEADERS }));
  expect(parts(message)).toEqual([
    ["slow", "result", { n: 1 }, "SUCCESS"],
    ["fast", "result", { n: 2 }, "SUCCESS"],
  ]);
  expect(message.status).toMatchObject({ type: "complete", reason: "stop" });
  expect(message.metadata.unstable_data).toEqual([
    { type: "tool-progress", toolCallId: a, stage: "reading", done: 1, total: 2 },
    { type: "user-message", text: "hurry" },
    { type: "tool-progress", toolCallId: a, attempt: 2 },
    { type: "done", reason: "stop" },
  ]);
});

describe("a run that waits for people", () => {
  const a = "call_a" as ToolCallId;
  const usage = { inputTokens: 1, outputTokens: 1 };
  const approved = { ...SUMMARY, status: "approved" } as const;
  const observation = observeSuccess(
    { name: "t", version: "1", toolCallId: a, traceId: "r", startedAtMs: 0, endedAtMs: 5 },
    { sent: true },
  );
  const before: readonly AiEvent[] = [
    { type: "step_started", step: 1, messageId: "m-1" },
    { type: "text_started", part: 0 },
    { type: "text_delta", part: 0, text: "I ask." },
    { type: "text_finished", part: 0 },
    { type: "tool_call_proposed", part: 1, toolCallId: a, toolName: "send" },
    {
      type: "approval_requested",
      part: 1,
      toolCallId: a,
      approval: SUMMARY,
      packet: PACKET,
      lines: formatPacketLines(PACKET),
    },
    { type: "run_waiting", usage },
  ];
  const after: readonly AiEvent[] = [
    { type: "approval_updated", part: 1, toolCallId: a, approval: approved },
    { type: "tool_call_start", part: 1, toolCallId: a, toolName: "t", args: { n: 1 } },
    { type: "tool_call_result", part: 1, toolCallId: a, observation },
    { type: "step_finished", step: 1, finish: "tool_calls", usage, continued: true },
    { type: "step_started", step: 2, messageId: "m-1" },
    { type: "text_started", part: 2 },
    { type: "text_delta", part: 2, text: "Sent." },
    { type: "text_finished", part: 2 },
    { type: "step_finished", step: 2, finish: "stop", usage, continued: false },
    { type: "done", reason: "stop", usage },
  ];
  const encode = (events: readonly AiEvent[], from = 1): string =>
    events.map((event, at) => encodeEvent(event, { epoch: 0, seq: from + at })).join("");
  const answer = (body: string): Response => new Response(body, { headers: EVENT_STREAM_HEADERS });

  test("requires action, with the call still open and the question beside it", async () => {
    const message = await accumulate(answer(encode(before) + TRAILER));
    expect(message.status).toMatchObject({ type: "requires-action", reason: "tool-calls" });
    expect(message.parts.map(({ type }) => type)).toEqual(["text", "tool-call"]);
    expect(message.metadata.unstable_data).toEqual([
      {
        type: "approval-request",
        toolCallId: a,
        approval: SUMMARY,
        packet: PACKET,
        lines: formatPacketLines(PACKET),
      },
      { type: "waiting" },
    ]);
  });

  test("accumulates to the whole answer when it is read from its start after that", async () => {
    const message = await accumulate(answer(encode([...before, ...after])));
    expect(parts(message)).toEqual(["I ask.", ["send", "result", { n: 1 }, "SUCCESS"], "Sent."]);
    expect(message.status).toMatchObject({ type: "complete", reason: "stop" });
    expect(message.metadata.steps.length).toBe(2);
  });

  test("is the same whether it was read in one piece, or resumed after the wait", async () => {
    const resumed = encode(before) + encode(after, before.length + 1);
    expect(resumed).toBe(encode([...before, ...after]));
    const message = await accumulate(answer(resumed));
    expect(message.status).toMatchObject({ type: "complete", reason: "stop" });
  });
});

test("the title and the run's id travel as data", async () => {
  const title = call("core__generate_title", '{"title":"Mine"}', "call_t");
  const response = await chat([{ calls: [title] }, { text: ["ok"] }]);
  const runId = runIdOf(response);
  const message = await accumulate(response);
  expect(message.metadata.unstable_data).toEqual([
    { type: "run", runId, model: "scripted" },
    { type: "title", title: "Mine" },
    { type: "done", reason: "stop" },
  ]);
});

test("a cancelled run is an incomplete message, not an error", async () => {
  const response = await chat([{ text: ["one"], hangs: true }]);
  const runId = runIdOf(response);
  const reading = accumulate(response);
  await send(`/v1/runs/${runId}/cancel`, { caller: "acme", method: "POST" });
  expect((await reading).status).toMatchObject({ type: "incomplete", reason: "other" });
});
