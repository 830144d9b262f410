import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunId, ToolCallId } from "../../../src/protocol/identity/ids.ts";
import { encodeEvents } from "../../../src/protocol/run/client-wire.ts";
import type { AiEvent } from "../../../src/protocol/run/event.ts";
import { assistantTransport } from "../../../src/wire/assistant-transport/wire.ts";

const toolCallId = "call_1" as ToolCallId;
const usage = { inputTokens: 1, outputTokens: 2 };
const call = { part: 1, toolCallId };
/** The encoder repeats these objects as they are, so their own fields are no matter of the wire. */
const approval = { approvalId: "a" } as never;
const packet = { traceId: "t" } as never;
const observation = { status: { is_error: true } } as never;

/** One event of every type. A new type comes last: it changes the text of no other event. */
const EVENTS: { readonly [Type in AiEvent["type"]]: Extract<AiEvent, { type: Type }> } = {
  run_started: { type: "run_started", runId: "run_1" as RunId, model: "m" },
  step_started: { type: "step_started", step: 1, messageId: "m-1" },
  text_started: { type: "text_started", part: 0 },
  text_delta: { type: "text_delta", part: 0, text: 'a\n"b" \u2028 é' },
  text_finished: { type: "text_finished", part: 0 },
  text_withdrawn: { type: "text_withdrawn", parts: [0] },
  tool_call_proposed: { type: "tool_call_proposed", ...call, toolName: "t" },
  tool_call_start: { type: "tool_call_start", ...call, toolName: "t", args: { a: [1, null] } },
  tool_call_progress: { type: "tool_call_progress", ...call, stage: "s", done: 1, total: 3 },
  tool_call_waiting: { type: "tool_call_waiting", ...call, untilMs: 0 },
  approval_requested: { type: "approval_requested", ...call, approval, packet, lines: [] },
  approval_updated: { type: "approval_updated", ...call, approval },
  tool_call_result: { type: "tool_call_result", ...call, observation },
  user_message: { type: "user_message", text: "and?" },
  title_set: { type: "title_set", title: "A title" },
  step_finished: { type: "step_finished", step: 1, finish: "length", usage, continued: true },
  run_waiting: { type: "run_waiting", usage },
  done: { type: "done", reason: "error", usage, error: { code: "c", message: "m" } },
  reasoning_started: { type: "reasoning_started", part: 2 },
  reasoning_delta: { type: "reasoning_delta", part: 2, text: 'b\n"c"' },
  reasoning_finished: { type: "reasoning_finished", part: 2 },
  model_changed: { type: "model_changed", from: "a", to: "b", reason: "retired" },
  client_tool_call: { type: "client_tool_call", ...call, toolName: "own", args: {} },
};
const RUN = { runId: "run_1" as RunId, workflowId: "run_0" as RunId, model: "m", createdMs: 0 };

test("the text of every event is that of the encoder's revision", () => {
  const { revision } = assistantTransport;
  const folder = join(import.meta.dirname, "../../fixtures/assistant-transport");
  const recorded = readFileSync(join(folder, `revision-${revision}.txt`), "utf8");
  const entries = Object.values(EVENTS).map((event, index) => ({
    event,
    position: { epoch: 2, seq: index + 1 },
  }));
  const text = encodeEvents(assistantTransport, entries, RUN);
  const advice = "Raise the revision of the wire, and record its text in a fixture of its own.";
  expect(text, advice).toBe(recorded);
});
