import { expect, test } from "vitest";
import { answerInterrupted, closeInterrupted } from "../../src/loop/close-interrupted.ts";
import type { AiEvent } from "../../src/protocol/ai-event.ts";
import type { RunId, ToolCallId } from "../../src/protocol/ids.ts";
import type { TranscriptMessage } from "../../src/protocol/transcript-message.ts";

const interruption = { runId: "run_1", nowMs: 1000 };
const a = "a" as ToolCallId;
const b = "b" as ToolCallId;

test("closes what is open, and nothing else, then says done once", () => {
  const log: readonly AiEvent[] = [
    { type: "run_started", runId: "run_1" as RunId, model: "m" },
    { type: "text_started", part: 0 },
    { type: "text_finished", part: 0 },
    {
      type: "step_finished",
      step: 1,
      finish: "stop",
      usage: { inputTokens: 3, outputTokens: 4 },
      continued: true,
    },
    { type: "text_started", part: 1 },
    { type: "tool_call_proposed", part: 2, toolCallId: a, toolName: "t" },
  ];
  expect(closeInterrupted(log, interruption)).toMatchObject([
    { type: "text_finished", part: 1 },
    {
      type: "tool_call_result",
      part: 2,
      toolCallId: "a",
      observation: { status: { is_error: true } },
    },
    {
      type: "done",
      reason: "error",
      usage: { inputTokens: 3, outputTokens: 4 },
      error: { code: "interrupted" },
    },
  ]);
});

test("answers the calls that have no result, so that the transcript can be continued", () => {
  const call = (
    toolCallId: ToolCallId,
  ): { toolCallId: ToolCallId; name: string; argumentsText: string } => ({
    toolCallId,
    name: "t",
    argumentsText: "{}",
  });
  const transcript: readonly TranscriptMessage[] = [
    { role: "user", text: "hi" },
    { role: "assistant", text: "", toolCalls: [call(a), call(b)] },
    { role: "tool", toolCallId: a, name: "t", result: {} },
  ];
  expect(answerInterrupted(transcript, interruption)).toMatchObject([
    { role: "tool", toolCallId: "b" },
  ]);
  expect(answerInterrupted([{ role: "user", text: "hi" }], interruption)).toEqual([]);
});
