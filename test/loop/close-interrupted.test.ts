import { expect, test } from "vitest";
import { answerInterrupted, closeInterrupted } from "../../src/loop/close-interrupted.ts";
import type { AiEvent } from "../../src/protocol/ai-event.ts";
import type { RunId, ToolCallId } from "../../src/protocol/ids.ts";
import { observeSuccess } from "../../src/protocol/observation.ts";
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
  expect(answerInterrupted({ transcript, log: [] }, interruption)).toMatchObject([
    { role: "tool", toolCallId: "b", result: { status: { taxonomy_class: "UNKNOWN_ERROR" } } },
  ]);
  const unasked: readonly TranscriptMessage[] = [{ role: "user", text: "hi" }];
  expect(answerInterrupted({ transcript: unasked, log: [] }, interruption)).toEqual([]);
});

test("a call that had ended is answered with its own result, though one before it had not", () => {
  const calls = [a, b].map((toolCallId) => ({ toolCallId, name: "t", argumentsText: "{}" }));
  const facts = {
    name: "t",
    version: "1",
    toolCallId: b,
    traceId: "r",
    startedAtMs: 0,
    endedAtMs: 1,
  };
  const observation = observeSuccess(facts, { sent: true });
  const answers = answerInterrupted(
    {
      transcript: [{ role: "assistant", text: "", toolCalls: calls }],
      log: [{ type: "tool_call_result", part: 1, toolCallId: b, observation }],
    },
    interruption,
  );
  expect(answers).toMatchObject([
    { toolCallId: a, result: { status: { is_error: true } } },
    { toolCallId: b, result: observation },
  ]);
});
