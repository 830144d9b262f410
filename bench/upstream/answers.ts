/** Marks each delta's text; nothing else in any stream holds this character. */
export const MARK = "~";

/** One word per delta, of the lengths that tokens have; fixed, so that every run sends the same. */
const WORDS = ["the", " in", "ter", "lock", " holds", ",", " and", " proves", " it", "."];

const HEAD = {
  id: "chatcmpl-bench0000000000000000000000",
  object: "chat.completion.chunk",
  created: 1_763_600_000,
  model: "bench-model-2026-01-01",
  service_tier: "default",
  system_fingerprint: "fp_0123456789",
};

/** Text of the delta at a place. */
export function formatAt(index: number): string {
  return `${MARK}${WORDS[index % WORDS.length] ?? ""}`;
}

/** Frames of a text answer of so many deltas. */
export function textAnswer(deltas: number): string[] {
  return Array.from({ length: deltas }, (_, index) => textFrame(formatAt(index)));
}

/** One delta of text, in the envelope that providers send it in. */
export function textFrame(content: string): string {
  return frame({ content }, null);
}

/** Frames of an answer that asks for the time, its arguments in fragments. */
export function toolCallAnswer(toolName: string, step: number): string[] {
  const id = `call_bench${String(step).padStart(16, "0")}`;
  const open = { name: toolName, arguments: "" };
  const fragments = ['{"', "time", "Zone", '":"', "UTC", '"}'];
  return [
    frame({ tool_calls: [{ index: 0, id, type: "function", function: open }] }, null),
    ...fragments.map((text) =>
      frame({ tool_calls: [{ index: 0, function: { arguments: text } }] }, null),
    ),
    frame({}, "tool_calls"),
  ];
}

/** Frames that end an answer: the reason, unless one was given, then usage and the end mark. */
export function ending(reason?: string): string[] {
  const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 };
  return [
    ...(reason === undefined ? [] : [frame({}, reason)]),
    `data: ${JSON.stringify({ ...HEAD, choices: [], usage })}\n\n`,
    "data: [DONE]\n\n",
  ];
}

function frame(delta: object, finishReason: string | null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
  return `data: ${JSON.stringify({ ...HEAD, choices: [choice] })}\n\n`;
}
