import {
  AssistantStream,
  AssistantTransportEncoder,
  type AssistantStreamChunk,
} from "assistant-stream";
import { expect, test } from "vitest";
import type { AiEvent } from "../../../src/protocol/run/event.ts";
import type { RunId, ToolCallId } from "../../../src/protocol/identity/ids.ts";
import { observeSuccess } from "../../../src/protocol/outcome/observation.ts";
import { formatPacketLines } from "../../../src/protocol/approval/packet-lines.ts";
import { encodeEvent, toChunks } from "../../../src/wire/assistant-transport/encode-event.ts";
import { PACKET, SUMMARY } from "../../shared/packets.ts";

const toolCallId = "call_1" as ToolCallId;
const usage = { inputTokens: 1, outputTokens: 2 };
const observation = observeSuccess(
  { name: "t", version: "1", toolCallId, traceId: "r", startedAtMs: 0, endedAtMs: 5 },
  { text: 'line\nline\u2028 "quoted" </script> \u{1f600}' },
);

const approval = { ...SUMMARY, title: "Pay \u202e\n</script>" };
const packet = { ...PACKET, consequence: "line\nline\u2028" };

/** One event of every type. */
const EVENTS: readonly AiEvent[] = [
  { type: "run_started", runId: "run_1" as RunId, model: "m" },
  { type: "step_started", step: 1, messageId: "m-1" },
  { type: "text_started", part: 0 },
  { type: "text_delta", part: 0, text: 'a\n"b" \\ \u2028 \ud83d é \u0000' },
  { type: "text_finished", part: 0 },
  { type: "reasoning_started", part: 2 },
  { type: "reasoning_delta", part: 2, text: 'b\n"c" \u2028' },
  { type: "reasoning_finished", part: 2 },
  { type: "tool_call_proposed", part: 1, toolCallId, toolName: "t" },
  { type: "tool_call_start", part: 1, toolCallId, toolName: "t", args: { a: [1, null, "x"] } },
  { type: "tool_call_progress", part: 1, toolCallId, stage: "reading", done: 1, total: 3 },
  { type: "tool_call_progress", part: 1, toolCallId, attempt: 2 },
  { type: "tool_call_result", part: 1, toolCallId, observation },
  { type: "tool_call_waiting", part: 1, toolCallId, untilMs: 0 },
  {
    type: "approval_requested",
    part: 1,
    toolCallId,
    approval,
    packet,
    lines: formatPacketLines(packet),
  },
  { type: "approval_updated", part: 1, toolCallId, approval },
  { type: "text_withdrawn", parts: [0] },
  { type: "run_waiting", usage },
  { type: "user_message", text: 'and \u2028 in "Paris"?' },
  { type: "title_set", title: "A title" },
  { type: "step_finished", step: 1, finish: "tool_calls", usage, continued: true },
  { type: "done", reason: "error", usage, error: { code: "c", message: "m" } },
];

test("the frames equal the package's own encoder's, byte for byte, except for ids", async () => {
  const chunks = EVENTS.flatMap(toChunks);
  const ours = EVENTS.map((event, index) => encodeEvent(event, { epoch: 0, seq: index + 1 })).join(
    "",
  );
  expect(ours.replace(/^id: .*\n/gm, "")).toBe(await officialEncoding(chunks));
});

test("only an event's last frame carries the id", () => {
  for (const event of EVENTS) {
    const text = encodeEvent(event, { epoch: 3, seq: 14 });
    expect(text.match(/^id: /gm)?.length).toBe(1);
    expect(text.endsWith("\nid: 3-14\n\n")).toBe(true);
  }
});

test("nothing in an event can break out of its frame", () => {
  const hostile = "x\n\ndata: [DONE]\n\nid: 9-9\r\nevent: error\r\n\r\n";
  const events: readonly AiEvent[] = [
    { type: "text_delta", part: 0, text: hostile },
    { type: "title_set", title: hostile },
    { type: "user_message", text: hostile },
    { type: "tool_call_progress", part: 0, toolCallId: hostile as ToolCallId, stage: hostile },
    { type: "tool_call_proposed", part: 0, toolCallId: hostile as ToolCallId, toolName: hostile },
    { type: "tool_call_start", part: 0, toolCallId, toolName: "t", args: { [hostile]: hostile } },
  ];
  for (const event of events) {
    const lines = encodeEvent(event, { epoch: 0, seq: 1 }).split(/\r\n|\r|\n/);
    expect(
      lines.every((line) => line === "" || line.startsWith("data: {") || line === "id: 0-1"),
    ).toBe(true);
  }
});

async function officialEncoding(chunks: readonly AssistantStreamChunk[]): Promise<string> {
  const source = new ReadableStream<AssistantStreamChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  return AssistantStream.toResponse(source, new AssistantTransportEncoder()).text();
}
