/** Marks the text of each delta. Nothing else in a stream contains this character. */
export const MARK = "~";

/** One word per delta, with the lengths of tokens. Fixed, so that every run sends the same text. */
const WORDS = ["the", " in", "ter", "lock", " holds", ",", " and", " proves", " it", "."];

const HEAD = {
  id: "chatcmpl-bench0000000000000000000000",
  object: "chat.completion.chunk",
  created: 1_763_600_000,
  model: "bench-model-2026-01-01",
  service_tier: "default",
  system_fingerprint: "fp_0123456789",
};

/** Returns the text of the delta at an index. */
export function formatAt(index: number): string {
  return `${MARK}${WORDS[index % WORDS.length] ?? ""}`;
}

/** Makes the frames of a text answer with `deltas` deltas. */
export function textAnswer(deltas: number): string[] {
  return Array.from({ length: deltas }, (_, index) => textFrame(formatAt(index)));
}

/** Makes the frame of one text delta, in the envelope of a provider. */
export function textFrame(content: string): string {
  return frame({ content }, null);
}

/**
 * Makes the frames of an answer that calls the tool, with its arguments in fragments. The zone
 * changes with the step: Interlock stops a model that gets the same result three times.
 */
export function toolCallAnswer(toolName: string, step: number): string[] {
  const id = idOf(step);
  const open = { name: toolName, arguments: "" };
  const fragments = ['{"', "time", "Zone", '":"', `Etc/GMT-${step % 13}`, '"}'];
  return [
    frame({ tool_calls: [{ index: 0, id, type: "function", function: open }] }, null),
    ...fragments.map((text) =>
      frame({ tool_calls: [{ index: 0, function: { arguments: text } }] }, null),
    ),
    frame({}, "tool_calls"),
  ];
}

/** Characters of one fragment of long arguments. */
const FRAGMENT_CHARS = 16;

/** Makes the frames of an answer that calls a tool with one long text. */
export function longArgumentsAnswer(toolName: string, kib: number): string[] {
  // The arguments stay below the size, because a limit of Interlock is exactly 256 KiB.
  const text = JSON.stringify({ text: "argument ".repeat(200_000).slice(0, kib * 1024 - 64) });
  const open = { name: toolName, arguments: "" };
  const call = { index: 0, id: idOf(0), type: "function", function: open };
  const frames = [frame({ tool_calls: [call] }, null)];
  for (let at = 0; at < text.length; at += FRAGMENT_CHARS) {
    const part = { arguments: text.slice(at, at + FRAGMENT_CHARS) };
    frames.push(frame({ tool_calls: [{ index: 0, function: part }] }, null));
  }
  return [...frames, frame({}, "tool_calls")];
}

/** Makes the frames of an answer that calls many tools that do not exist. */
export function refusedCallsAnswer(calls: number): string[] {
  const frames = Array.from({ length: calls }, (_, index) => {
    const call = { name: `no_such_tool_${index}`, arguments: "{}" };
    const delta = { tool_calls: [{ index, id: idOf(index), type: "function", function: call }] };
    return frame(delta, null);
  });
  return [...frames, frame({}, "tool_calls")];
}

function idOf(call: number): string {
  return `call_bench${String(call).padStart(16, "0")}`;
}

/** Makes the frames that end an answer: the reason if given, usage and the end mark. */
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
