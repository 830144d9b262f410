import { beforeAll, describe, expect, test } from "vitest";
import { formatPacketLines } from "../../../src/protocol/approval/packet-lines.ts";
import type { RunId, ToolCallId } from "../../../src/protocol/identity/ids.ts";
import { failCall } from "../../../src/protocol/outcome/failures.ts";
import { observeFailure, observeSuccess } from "../../../src/protocol/outcome/observation.ts";
import { PATTERN_DEFAULTS } from "../../../src/protocol/approval/requirement.ts";
import type { AiEvent, DoneReason } from "../../../src/protocol/run/event.ts";
import { encodeEvents } from "../../../src/protocol/run/client-wire.ts";
import { uiMessageWire } from "../../../src/wire/ui-message/wire.ts";
import { uiMessage6Wire } from "../../../src/wire/ui-message/wire-6.ts";
import { PACKET, SUMMARY } from "../../shared/packets.ts";
import { API_OF, MAJORS, openUiChat, type UiChat } from "../../shared/ui-chat.ts";
import { seedPolicies, send } from "../../shared/worker.ts";
import { script, type ScriptedStep } from "../../fakes/scripted-model.ts";

beforeAll(seedPolicies);

const RUN = { runId: "run_1" as RunId, workflowId: "run_1" as RunId, model: "m", createdMs: 0 };
const CALL = "call_a" as ToolCallId;
const USAGE = { inputTokens: 1, outputTokens: 1 };
const FACTS = {
  name: "t",
  version: "1",
  toolCallId: CALL,
  traceId: "r",
  startedAtMs: 0,
  endedAtMs: 5,
};

const TOKYO = { name: "core__get_current_time", args: '{"timeZone":"Asia/Tokyo"}', id: "call_a" };
const BEGUN: readonly AiEvent[] = [
  { type: "run_started", runId: RUN.runId, model: "m" },
  { type: "step_started", step: 1, messageId: "run_1-1" },
];
const done = (reason: DoneReason): AiEvent => ({ type: "done", reason, usage: USAGE });
const CONSENT = {
  ...SUMMARY,
  requirements: [{ ...PATTERN_DEFAULTS.user_consent, approvals: 0 }],
};
const requested = (approval: typeof SUMMARY): AiEvent => ({
  type: "approval_requested",
  part: 0,
  toolCallId: CALL,
  approval,
  packet: PACKET,
  lines: formatPacketLines(PACKET),
});
const updated = (approval: typeof SUMMARY): AiEvent => ({
  type: "approval_updated",
  part: 0,
  toolCallId: CALL,
  approval,
});
const PROPOSED: AiEvent = {
  type: "tool_call_proposed",
  part: 0,
  toolCallId: CALL,
  toolName: "pay__refund",
};
const WAITING: AiEvent = { type: "run_waiting", usage: USAGE };
const RAN: readonly AiEvent[] = [
  { type: "tool_call_start", part: 0, toolCallId: CALL, toolName: "pay__refund", args: { n: 1 } },
  {
    type: "tool_call_result",
    part: 0,
    toolCallId: CALL,
    observation: observeSuccess(FACTS, { paid: true }),
  },
  { type: "step_finished", step: 1, finish: "tool_calls", usage: USAGE, continued: false },
  done("stop"),
];

describe.each(MAJORS)("the client of version %i", (major) => {
  const uiMessage = major === 7 ? uiMessageWire : uiMessage6Wire;
  const ask = async (steps: readonly ScriptedStep[]): Promise<UiChat["chat"]> => {
    const { chat } = openUiChat(
      (body) =>
        send(API_OF[major], {
          caller: "acme",
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        }),
      { major },
    );
    await chat.sendMessage({ text: script(...steps) });
    return chat;
  };

  /** The answer to one post. */
  const answerWith = (events: readonly AiEvent[]): Response => {
    const entries = events.map((event, at) => ({ event, position: { epoch: 0, seq: at + 1 } }));
    const isOver = events.at(-1)?.type === "done";
    const text = encodeEvents(uiMessage, entries, RUN) + (isOver ? "" : uiMessage.trailer);
    return new Response(text, { headers: uiMessage.headers });
  };

  /** Reads events as a client reads them; each list is the answer to one post. */
  const read = async (...posts: readonly (readonly AiEvent[])[]): Promise<UiChat["chat"]> => {
    const answers = posts.map(answerWith);
    const { chat } = openUiChat(
      () => Promise.resolve(answers.shift() ?? new Response(null, { status: 500 })),
      { major },
    );
    await chat.sendMessage({ text: "go" });
    return chat;
  };

  test("a plain answer", async () => {
    const chat = await ask([{ text: ["Hello", ", ", "world"] }]);
    expect(chat.lastMessage).toMatchObject({
      id: expect.stringMatching(/^run_/) as string,
      metadata: { model: "scripted", reason: "stop" },
      parts: [{ type: "step-start" }, { type: "text", text: "Hello, world", state: "done" }],
    });
    expect([chat.status, chat.error]).toEqual(["ready", undefined]);
  });

  test("text, a tool, text", async () => {
    const chat = await ask([{ text: ["Let me see. "], calls: [TOKYO] }, { text: ["Done."] }]);
    expect(chat.lastMessage?.parts).toMatchObject([
      { type: "step-start" },
      { type: "text", text: "Let me see. " },
      {
        type: "tool-core__get_current_time",
        state: "output-available",
        input: { timeZone: "Asia/Tokyo" },
        output: { timeZone: "Asia/Tokyo" },
      },
      { type: "step-start" },
      { type: "text", text: "Done." },
    ]);
  });

  test("a call that a gate refuses is an error of its part, and the answer continues", async () => {
    const chat = await ask([{ calls: [{ ...TOKYO, args: '{"timeZone":' }] }, { text: ["sorry"] }]);
    expect(chat.lastMessage?.parts).toMatchObject([
      { type: "step-start" },
      { type: "tool-core__get_current_time", state: "output-error" },
      { type: "step-start" },
      { type: "text", text: "sorry" },
    ]);
  });

  test("a provider that fails is an error of the chat, and the message names the code", async () => {
    const chat = await ask([{ text: ["half"], garbled: true }]);
    expect(chat.status).toBe("error");
    expect(chat.error?.message).not.toBe("");
    expect(chat.lastMessage?.metadata).toMatchObject({ reason: "error", error: { code: /./ } });
  });

  test("a half answer that is asked for again leaves nothing behind", async () => {
    const chat = await read([
      ...BEGUN,
      { type: "reasoning_started", part: 0 },
      { type: "reasoning_delta", part: 0, text: "Hm" },
      { type: "reasoning_finished", part: 0 },
      { type: "text_started", part: 1 },
      { type: "text_delta", part: 1, text: "Ha" },
      { type: "text_finished", part: 1 },
      { type: "text_withdrawn", parts: [0, 1] },
      { type: "model_changed", from: "m", to: "n", reason: "failing" },
      { type: "text_started", part: 2 },
      { type: "text_delta", part: 2, text: "Hallo" },
      { type: "text_finished", part: 2 },
      { type: "step_finished", step: 1, finish: "stop", usage: USAGE, continued: false },
      done("stop"),
    ]);
    const texts = chat.lastMessage?.parts.flatMap((part) =>
      part.type === "text" ? part.text : [],
    );
    const note = "\n\n[The text above is withdrawn, and the answer begins again.]\n\n";
    expect(texts).toEqual(major === 7 ? ["Hallo"] : ["Ha", note, "Hallo"]);
  });

  test("a consent is asked natively, with the packet, and the run goes on in the same message", async () => {
    const asked = [...BEGUN, PROPOSED, requested(CONSENT), WAITING];
    const chat = await read(asked, [updated({ ...CONSENT, status: "approved" }), ...RAN]);
    expect(chat.status).toBe("ready");
    expect(chat.lastMessage?.parts[1]).toMatchObject({
      type: "tool-pay__refund",
      state: "approval-requested",
      input: PACKET.arguments.shown,
      approval: {
        id: CONSENT.approvalId,
        ...(major === 7 && { requestReason: PACKET.actionName.title }),
        descriptor: { packet: PACKET },
      },
    });
    await chat.addToolApprovalResponse({ id: CONSENT.approvalId, approved: true });
    await expect.poll(() => chat.status).toBe("ready");
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(chat.lastMessage?.parts[1]).toMatchObject({
      state: "output-available",
      approval: { approved: true },
      output: { paid: true },
    });
  });

  test("a message that is read again from its start shows both legs of a consent", async () => {
    const approved = updated({ ...CONSENT, status: "approved" });
    const chat = await read([...BEGUN, PROPOSED, requested(CONSENT), WAITING, approved, ...RAN]);
    expect(chat.lastMessage?.parts[1]).toMatchObject({
      state: "output-available",
      approval: major === 7 ? { approved: true } : { id: CONSENT.approvalId },
    });
  });

  test("an approval of others is a note, which nobody can answer here", async () => {
    const approved = updated({ ...SUMMARY, status: "approved" });
    const chat = await read([...BEGUN, PROPOSED, requested(SUMMARY), WAITING, approved]);
    const [, call, ...notes] = chat.lastMessage?.parts ?? [];
    expect(call).toMatchObject({ state: "input-available", input: PACKET.arguments.shown });
    expect(call).not.toHaveProperty("approval");
    expect(notes).toMatchObject([
      { type: "data-approval", data: { approval: { status: "approved" } } },
    ]);
  });

  test.each(["approval_rejected", "approval_expired", "approval_withdrawn"] as const)(
    "a call that ends with %s is denied, and the tool did not run",
    async (code) => {
      const { failure } = failCall(code);
      const chat = await read([
        ...BEGUN,
        PROPOSED,
        requested(CONSENT),
        updated({ ...CONSENT, status: "rejected" }),
        {
          type: "tool_call_result",
          part: 0,
          toolCallId: CALL,
          observation: observeFailure(FACTS, failure),
        },
        done("stop"),
      ]);
      expect(chat.lastMessage?.parts[1]).toMatchObject({
        state: "output-denied",
        approval: major === 7 ? { approved: false } : { id: CONSENT.approvalId },
      });
    },
  );

  test.each<[DoneReason, string | undefined]>([
    ["stop", "stop"],
    ["length", "length"],
    ["context_window", "length"],
    ["content_filter", "content-filter"],
    ["refusal", "content-filter"],
    ["step_limit", "other"],
  ])("a run that ends by %s finishes by %s", async (reason, finishReason) => {
    const { chat, finished } = openUiChat(
      () => Promise.resolve(answerWith([...BEGUN, done(reason)])),
      { major },
    );
    await chat.sendMessage({ text: "go" });
    expect(finished).toEqual([finishReason]);
  });

  test("a run that was cancelled is an abort", async () => {
    const chat = await read([...BEGUN, done("cancelled")]);
    expect([chat.status, chat.error]).toEqual(["ready", undefined]);
  });

  test("progress, content, a title and a message to the run are data beside the call", async () => {
    const chat = await read([
      ...BEGUN,
      PROPOSED,
      ...RAN.slice(0, 1),
      {
        type: "tool_call_progress",
        part: 0,
        toolCallId: CALL,
        stage: "reading",
        done: 1,
        total: 2,
      },
      {
        type: "tool_call_progress",
        part: 0,
        toolCallId: CALL,
        stage: "reading",
        done: 2,
        total: 2,
      },
      { type: "tool_call_waiting", part: 0, toolCallId: CALL, untilMs: 0 },
      { type: "user_message", text: "hurry" },
      { type: "title_set", title: "Mine" },
      {
        type: "tool_call_result",
        part: 0,
        toolCallId: CALL,
        observation: observeSuccess(FACTS, {}),
        content: [{ type: "text", text: "a page" }],
      },
      done("stop"),
    ]);
    const data = chat.lastMessage?.parts.filter(({ type }) => type.startsWith("data-"));
    expect(data).toMatchObject([
      { type: "data-tool-progress", data: { done: 2 } },
      { type: "data-outcome-awaited", data: { until: "1970-01-01T00:00:00.000Z" } },
      { type: "data-user-message", data: { text: "hurry" } },
      { type: "data-title", data: { title: "Mine" } },
      { type: "data-tool-content", data: { content: [{ text: "a page" }] } },
    ]);
  });
});
