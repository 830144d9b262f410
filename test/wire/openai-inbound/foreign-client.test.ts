import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import { formatPacketLines } from "../../../src/protocol/approval/packet-lines.ts";
import { PATTERN_DEFAULTS } from "../../../src/protocol/approval/requirement.ts";
import type { RunId, ToolCallId } from "../../../src/protocol/identity/ids.ts";
import { failCall } from "../../../src/protocol/outcome/failures.ts";
import { observeFailure, observeSuccess } from "../../../src/protocol/outcome/observation.ts";
import { encodeEvents } from "../../../src/protocol/run/client-wire.ts";
import type { AiEvent, DoneReason } from "../../../src/protocol/run/event.ts";
import { linesOf, streamFolded } from "../../../src/http/clients/folded-run.ts";
import { eventLines } from "../../../src/wire/openai-inbound/event-lines.ts";
import { CompletionFold } from "../../../src/wire/openai-inbound/fold-completion.ts";
import { ResponseFold, type Fold } from "../../../src/wire/openai-inbound/fold-response.ts";
import { FIRST_LEG } from "../../../src/wire/openai-inbound/response-id.ts";
import { openAIBefore } from "../../shared/openai-client.ts";
import { PACKET, SUMMARY } from "../../shared/packets.ts";

const RUN = { runId: "run_1" as RunId, workflowId: "run_1" as RunId, model: "m", createdMs: 5_000 };
const CALL = "call_a" as ToolCallId;
const USAGE = { inputTokens: 3, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 1 };
const FACTS = {
  name: "pay__refund",
  version: "1",
  toolCallId: CALL,
  traceId: "r",
  startedAtMs: 0,
  endedAtMs: 5,
};
const linkOf = (): string => "https://x.test/approvals";

/** The stream of a run's object, in pieces of any size. */
const streamOf = (
  events: readonly AiEvent[],
  { waits = false, pieceBytes = 1e6 } = {},
): Response => {
  const entries = events.map((event, at) => ({ event, position: { epoch: 0, seq: at + 1 } }));
  const text = encodeEvents(eventLines, entries, RUN) + (waits ? eventLines.trailer : "");
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at < bytes.length) controller.enqueue(bytes.slice(at, (at += pieceBytes)));
        else controller.close();
      },
    }),
  );
};

/** The stream of a run whose first incarnation ended after `first`. */
const streamOfTwo = (first: readonly AiEvent[], second: readonly AiEvent[]): Response => {
  const entries = [...first, ...second].map((event, at) => ({
    event,
    position: { epoch: at < first.length ? 0 : 1, seq: at + 1 },
  }));
  return new Response(encodeEvents(eventLines, entries, RUN));
};

const answerWith = (run: Response, fold: Fold): Response => {
  const lines = linesOf(run);
  if (!lines) throw new Error("no stream");
  return streamFolded(lines, fold, run);
};

/** Reads events as the client of OpenAI reads a response. */
const read = async (events: readonly AiEvent[], options?: Parameters<typeof streamOf>[1]) => {
  const fold = new ResponseFold(FIRST_LEG, linkOf);
  const answer = answerWith(streamOf(events, options), fold);
  const stream = openAIBefore(() => Promise.resolve(answer)).responses.stream({ input: "go" });
  const seen: ResponseStreamEvent[] = [];
  stream.on("event", (event) => void seen.push(event));
  return { final: await stream.finalResponse(), seen };
};

/** Reads events as the client of OpenAI reads a chat completion. */
const complete = (events: readonly AiEvent[], options?: Parameters<typeof streamOf>[1]) => {
  const answer = answerWith(streamOf(events, options), new CompletionFold(linkOf, true));
  return openAIBefore(() => Promise.resolve(answer))
    .chat.completions.stream({ model: "m", messages: [] })
    .finalChatCompletion();
};

const BEGUN: readonly AiEvent[] = [
  { type: "run_started", runId: RUN.runId, model: "m" },
  { type: "step_started", step: 1, messageId: "run_1-1" },
];
const textOf = (part: number, ...deltas: readonly string[]): readonly AiEvent[] => [
  { type: "text_started", part },
  ...deltas.map((text) => ({ type: "text_delta", part, text }) as const),
  { type: "text_finished", part },
];
const done = (reason: DoneReason): AiEvent => ({
  type: "done",
  reason,
  usage: USAGE,
  ...(reason === "error" && { error: { code: "provider_error", message: "It failed." } }),
});
const HALF: readonly AiEvent[] = [
  ...BEGUN,
  { type: "reasoning_started", part: 0 },
  { type: "reasoning_delta", part: 0, text: "Hm" },
  { type: "reasoning_finished", part: 0 },
  ...textOf(1, "Ha"),
  { type: "text_withdrawn", parts: [0, 1] },
  { type: "model_changed", from: "m", to: "n", reason: "failing" },
  ...textOf(2, "Hal", "lo"),
  done("stop"),
];

test("a response has its texts, its reasoning and its usage", async () => {
  const { final } = await read([
    ...BEGUN,
    { type: "reasoning_started", part: 0 },
    { type: "reasoning_delta", part: 0, text: "Hm" },
    { type: "reasoning_finished", part: 0 },
    ...textOf(1, "Hallo"),
    done("stop"),
  ]);
  expect(final).toMatchObject({
    id: "run_1",
    created_at: 5,
    output: [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
      { type: "message", content: [{ type: "output_text", text: "Hallo" }] },
    ],
    usage: {
      input_tokens: 3,
      output_tokens: 2,
      total_tokens: 5,
      input_tokens_details: { cached_tokens: 1 },
      output_tokens_details: { reasoning_tokens: 1 },
    },
  });
});

test("what was withdrawn is in no answer; items keep their places", async () => {
  const { final, seen } = await read(HALF);
  expect(final.output_text).toBe("Hallo");
  expect(final.output.map((item) => ("status" in item ? item.status : ""))).toEqual([
    "incomplete",
    "incomplete",
    "completed",
  ]);
  const numbers = seen.map(({ sequence_number: number }) => number);
  expect(numbers).toEqual([...numbers.keys()]);
});

test("a stream of text says that what stands above is withdrawn; the whole text does not have it", async () => {
  const { choices } = await complete(HALF);
  expect(choices[0]?.message.content).toMatch(/^Ha\n\n\[.*withdrawn.*\]\n\nHallo$/s);
  const fold = new CompletionFold(linkOf, true);
  await answerWith(streamOf(HALF), fold).text();
  expect(fold.completion()).toMatchObject({ choices: [{ message: { content: "Hallo" } }] });
});

test("a run that is read in pieces of any size gives the same frames, whole in each write", async () => {
  const whole = await answerWith(streamOf(HALF), new ResponseFold(FIRST_LEG, linkOf)).text();
  for (const pieceBytes of [1, 7, 100]) {
    const run = streamOf(HALF, { pieceBytes });
    const { body } = answerWith(run, new ResponseFold(FIRST_LEG, linkOf));
    const writes: string[] = [];
    for await (const write of body ?? []) writes.push(new TextDecoder().decode(write));
    expect(writes.every((write) => write.endsWith("\n\n"))).toBe(true);
    expect(writes.join("")).toBe(whole);
  }
});

test("a reader of frames that a crash took away reads on behind them, to the end", async () => {
  const lost = await answerWith(
    streamOf([
      ...BEGUN,
      ...textOf(0, "lost", " ", "words", " ", "of", " ", "many"),
      ...textOf(1, "!"),
      done("stop"),
    ]),
    new ResponseFold(FIRST_LEG, linkOf),
  ).text();
  const seen = lost.split("\n\n").length;
  const kept = [...BEGUN, ...textOf(0, "l")];
  const again: readonly AiEvent[] = [
    { type: "text_withdrawn", parts: [0] },
    ...textOf(1, "all"),
    done("stop"),
  ];
  const fold = new ResponseFold(FIRST_LEG, linkOf, seen);
  const rest = await answerWith(streamOfTwo(kept, again), fold).text();
  const types = [...rest.matchAll(/^event: response\.(.*)$/gm)].map(([, type]) => type);
  expect(types[0]).toBe("output_item.done");
  expect(types.slice(1, 3)).toEqual(["output_item.added", "content_part.added"]);
  expect(types.at(-1)).toBe("completed");
});

test.each([...HALF.keys()].slice(0, -1))(
  "a stream that breaks off after event %i never looks whole",
  async (at) => {
    const cut = HALF.slice(0, at + 1);
    await expect(read(cut)).rejects.toThrow();
    await expect(complete(cut)).rejects.toThrow();
  },
);

test.each<[DoneReason, string, string | undefined, string]>([
  ["stop", "completed", undefined, "stop"],
  ["length", "incomplete", "max_output_tokens", "length"],
  ["context_window", "incomplete", "max_output_tokens", "length"],
  ["content_filter", "incomplete", "content_filter", "content_filter"],
  ["refusal", "incomplete", "content_filter", "content_filter"],
  ["step_limit", "incomplete", "step_limit", "length"],
  ["cancelled", "incomplete", "cancelled", "stop"],
])("a run that ends by %s is %s", async (reason, status, why, finish) => {
  const events = [...BEGUN, ...textOf(0, "a"), done(reason)];
  const { final } = await read(events);
  expect([final.status, final.incomplete_details?.reason]).toEqual([status, why]);
  const { choices, usage } = await complete(events);
  expect(choices).toMatchObject([{ finish_reason: finish, message: { content: "a" } }]);
  expect(usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
});

test("a run that fails is a failed response, and an error of a chat completion", async () => {
  const events = [...BEGUN, ...textOf(0, "a"), done("error")];
  const { final } = await read(events);
  expect(final).toMatchObject({
    status: "failed",
    error: { code: "provider_error", message: "It failed." },
  });
  await expect(complete(events)).rejects.toMatchObject({ code: "provider_error" });
});

const CONSENT = { ...SUMMARY, requirements: [{ ...PATTERN_DEFAULTS.user_consent, approvals: 0 }] };
const requested = (approval: typeof SUMMARY): readonly AiEvent[] => [
  ...BEGUN,
  { type: "tool_call_proposed", part: 0, toolCallId: CALL, toolName: "pay__refund" },
  {
    type: "approval_requested",
    part: 0,
    toolCallId: CALL,
    approval,
    packet: PACKET,
    lines: formatPacketLines(PACKET),
  },
  { type: "run_waiting", usage: USAGE },
];

test("a consent is asked with the packet; an approval of others is a note with its address", async () => {
  const mine = await read(requested(CONSENT), { waits: true });
  expect(mine.final).toMatchObject({
    status: "completed",
    output: [{ id: CONSENT.approvalId, type: "mcp_approval_request", packet: PACKET }],
  });
  const others = await read(requested(SUMMARY), { waits: true });
  expect(others.final.output.map(({ type }) => type)).toEqual(["message"]);
  expect(others.final).toMatchObject({ status: "incomplete" });
  for (const approval of [CONSENT, SUMMARY]) {
    const { choices } = await complete(requested(approval), { waits: true });
    expect(choices[0]?.message.content).toBe(
      '"Refund 40 EUR to Ann" waits for an approval: https://x.test/approvals',
    );
  }
});

test("a run that waits for anything else says so", async () => {
  const events: readonly AiEvent[] = [
    ...BEGUN,
    { type: "tool_call_start", part: 0, toolCallId: CALL, toolName: "pay__refund", args: {} },
    { type: "tool_call_waiting", part: 0, toolCallId: CALL, untilMs: 0 },
    { type: "run_waiting", usage: USAGE },
  ];
  const { final } = await read(events, { waits: true });
  expect(final).toMatchObject({
    status: "incomplete",
    incomplete_details: { reason: "run_waiting" },
    output: [{ type: "mcp_call", status: "incomplete" }, { type: "message" }],
  });
  const { choices } = await complete([...BEGUN, ...events.slice(-1)], { waits: true });
  expect(choices[0]?.message.content).toContain("goes on later");
});

test.each([
  ["that ran", observeSuccess(FACTS, { paid: true }), "completed", '{"paid":true}', null],
  [
    "that people rejected",
    observeFailure(FACTS, failCall("approval_rejected").failure),
    "failed",
    null,
    /./,
  ],
] as const)(
  "a call %s has its outcome, also where its start is not there",
  async (_name, observation, status, output, error) => {
    const result: AiEvent = { type: "tool_call_result", part: 0, toolCallId: CALL, observation };
    const start: AiEvent = {
      type: "tool_call_start",
      part: 0,
      toolCallId: CALL,
      toolName: "pay__refund",
      args: { n: 1 },
    };
    const whole = await read([...BEGUN, start, result, done("stop")]);
    const shown = { type: "mcp_call", name: "pay__refund", status, output };
    expect(whole.final.output).toMatchObject([{ ...shown, arguments: '{"n":1}' }]);
    const [call] = (await read([...BEGUN, result, done("stop")])).final.output;
    expect(call).toMatchObject(shown);
    const said = call?.type === "mcp_call" ? call.error : undefined;
    if (error === null) expect(said).toBeNull();
    else expect(said).toMatch(error);
  },
);
