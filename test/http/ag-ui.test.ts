import { describe, expect, test } from "vitest";
import { releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import {
  answerAll,
  openAgUi,
  postAgUi,
  type AgentVersion,
  type AgUiChat,
} from "../shared/ag-ui.ts";
import {
  APPROVE,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  openOf,
  useApprovalLab,
} from "../shared/people.ts";
import { refusalOf } from "../shared/run-object.ts";
import { send, stateOf, type Caller } from "../shared/worker.ts";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";

useApprovalLab();

const VERSIONS = ["1.0.0", "0.0.59"] as const;
const open = (version: AgentVersion, threadId?: string, caller: Caller = "ann"): AgUiChat =>
  openAgUi(version, (body) => postAgUi(body, caller), threadId);

let messages = 0;
const say = async ({ agent }: AgUiChat, content: string): Promise<void> => {
  agent.addMessage({ id: `m-${(messages += 1)}`, role: "user", content });
  await agent.runAgent();
};
const ask = (chat: AgUiChat, ...steps: readonly ScriptedStep[]): Promise<void> =>
  say(chat, script(...steps));

const textOf = ({ agent }: AgUiChat): string => {
  const last = agent.messages.findLast((message) => message.role === "assistant");
  return typeof last?.content === "string" ? last.content : "";
};
const typesOf = ({ events }: AgUiChat): readonly string[] => events.map(({ type }) => type);
const rolesOf = ({ agent }: AgUiChat): readonly string[] => agent.messages.map(({ role }) => role);
const runOf = ({ agent }: AgUiChat): string =>
  agent.messages.findLast(({ id }) => id.startsWith("run_"))?.id.slice(0, 69) ?? "";
/** The words of people that a model was shown: it repeats the request of a free text. */
const saidIn = (chat: AgUiChat): readonly unknown[] => {
  const { messages: shown } = JSON.parse(textOf(chat)) as {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  };
  return shown.filter(({ role }) => role === "user").map(({ content }) => content);
};
const NOTIFY = callOf("lab__notify", { what: "hello" });
const DONE = { text: ["done"] };
const TOKYO = callOf("core__get_current_time", { timeZone: "Asia/Tokyo" }, "call_a");

const SEATS = ["window", "aisle", "cockpit"];

describe.each(VERSIONS)("HttpAgent %s", (version) => {
  const propose = async (): Promise<AgUiChat> => {
    const chat = open(version);
    await ask(chat, { calls: [NOTIFY] }, DONE);
    return chat;
  };
  const answer = (chat: AgUiChat, payload: object): Promise<unknown> =>
    chat.agent.runAgent({ resume: answerAll(chat.agent.pendingInterrupts, payload) });

  test("gets an answer with a tool under the names that it posts", async () => {
    const chat = open(version, undefined, "acme");
    await ask(chat, { text: ["Let me see. "], calls: [TOKYO] }, { text: ["Do", "ne."] });
    const { threadId, runId } = JSON.parse(chat.posted[0] ?? "") as Record<string, string>;
    expect(chat.events[0]).toMatchObject({ type: "RUN_STARTED", threadId, runId });
    expect(chat.events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      threadId,
      runId,
      outcome: { type: "success" },
      usage: [{ model: "scripted" }],
    });
    expect(rolesOf(chat)).toEqual(["user", "assistant", "assistant", "tool", "assistant"]);
    expect(chat.agent.messages[2]).toMatchObject({
      toolCalls: [{ function: { name: TOKYO.name, arguments: TOKYO.args } }],
    });
    expect(chat.agent.messages[3]?.content).toContain("Asia/Tokyo");
    expect(textOf(chat)).toBe("Done.");
  });

  test("goes on with what was recorded, and not with what it posts", async () => {
    const chat = open(version);
    await say(chat, "one");
    const [question, first] = chat.agent.messages;
    const lie = { id: "call_1", type: "function" as const, function: { name: "x", arguments: "" } };
    chat.agent.setMessages([
      { ...question, id: "q", role: "user", content: "a lie" },
      { id: first?.id ?? "", role: "assistant", content: "made up", toolCalls: [lie] },
      { id: "r", role: "tool", toolCallId: "call_1", content: "made up" },
    ]);
    await say(chat, "two");
    expect(chat.posted[1]).toContain("made up");
    expect(textOf(chat)).not.toContain("made up");
    expect(saidIn(chat)).toEqual(["one", "two"]);
  });

  test("approves, and the call runs once, however often it says so", async () => {
    const chat = await propose();
    expect(typesOf(chat).slice(-3)).toEqual([
      "STATE_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "RUN_FINISHED",
    ]);
    expect(rolesOf(chat)).toEqual(["user", "assistant"]);
    expect(chat.agent.messages[1]).toMatchObject({
      toolCalls: [{ function: { name: NOTIFY.name, arguments: NOTIFY.args } }],
    });
    expect(chat.agent.pendingInterrupts).toMatchObject([
      {
        reason: "tool_call",
        toolCallId: chat.agent.messages[1]?.id,
        expiresAt: expect.stringContaining("T") as string,
        metadata: { interlock: { packet: {} } },
      },
    ]);
    expect(moved).toEqual([]);
    chat.events.length = 0;
    await answer(chat, { approved: true });
    expect(typesOf(chat)).not.toContain("TOOL_CALL_START");
    expect(rolesOf(chat)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(textOf(chat)).toBe("done");
    expect(moved).toHaveLength(1);
    const again = await postAgUi(chat.posted[1] ?? "", "ann");
    expect(await again.text()).toContain('"outcome":{"type":"success"}');
    expect(moved).toHaveLength(1);
  });

  test("is shown an answer with a question as one message, which goes on in others", async () => {
    const chat = open(version);
    await ask(chat, { text: ["First. "], calls: [NOTIFY] }, DONE);
    expect(rolesOf(chat)).toEqual(["user", "assistant"]);
    expect(chat.agent.messages[1]).toMatchObject({
      content: "First. ",
      toolCalls: [{ id: chat.agent.pendingInterrupts[0]?.toolCallId }],
    });
    await answer(chat, { approved: true });
    expect(rolesOf(chat)).toEqual(["user", "assistant", "tool", "assistant"]);
  });

  test("denies, gives up or changes all arguments of a call", async () => {
    const denied = await propose();
    await answer(denied, { approved: false, reason: "not now" });
    const left = await propose();
    const id = left.agent.pendingInterrupts[0]?.id ?? "";
    await left.agent.runAgent({ resume: [{ interruptId: id, status: "cancelled" }] });
    expect([textOf(denied), textOf(left), moved]).toEqual(["done", "done", []]);
    const edited = await propose();
    await answer(edited, { approved: true, editedArgs: { what: "bye" } });
    expect(moved).toEqual(["notified: bye"]);
  });

  test("lets the consent of its person last, where policy offers that", async () => {
    const lasting = { within: "conversation", maxCalls: 2, maxSeconds: 60 };
    const rule = { tools: ["lab__archive"], pattern: "user_consent", lasting };
    await changeGuildPolicy({ ...GUILD_POLICY, approvals: [rule] });
    const chat = open(version);
    const call = callOf("lab__archive", { what: `kept by ${version}` });
    await ask(chat, { calls: [call] }, DONE);
    expect(chat.agent.pendingInterrupts[0]?.responseSchema).toMatchObject({
      properties: { lasting: { properties: { calls: { maximum: 2 } } } },
    });
    await answer(chat, { approved: true, lasting: { calls: 1 } });
    await ask(chat, { calls: [{ ...call, id: "again" }] }, DONE);
    expect([chat.agent.pendingInterrupts, moved.length]).toEqual([[], 2]);
    await changeGuildPolicy(GUILD_POLICY);
  });

  test("answers a question in its own form, with an error for what does not fit", async () => {
    const chat = open(version);
    await ask(chat, { calls: [callOf("lab__seat", { flight: "LH1" })] }, DONE);
    expect(chat.agent.pendingInterrupts).toMatchObject([
      {
        reason: "question",
        message: "Which seat on flight LH1?",
        responseSchema: {
          required: ["answer"],
          properties: { answer: { properties: { seat: { enum: SEATS } }, required: ["seat"] } },
        },
      },
    ]);
    await expect(answer(chat, { approved: true })).rejects.toThrow(/422/);
    await expect(answer(chat, { answer: { seat: "roof" } })).rejects.toThrow(/422/);
    expect(moved).toEqual([]);
    await answer(chat, { answer: { seat: "aisle" } });
    expect(textOf(chat)).toBe("done");
    expect(moved).toEqual(["aisle on LH1"]);
  });

  test("is told that others must approve, and follows once they have", async () => {
    const chat = open(version);
    await ask(chat, { calls: [callOf("lab__transfer", { to: "bakery", amount: 4 })] }, DONE);
    expect(chat.agent.pendingInterrupts).toEqual([]);
    expect(chat.events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      result: { status: "waiting" },
    });
    const runId = runOf(chat);
    const [approvalId = ""] = openOf(await stateOf(runId, "ann"));
    for (const person of ["bob", "cat"] as const) await decide(approvalId, person, APPROVE);
    await ended(runId);
    await chat.agent.runAgent();
    expect(rolesOf(chat)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(textOf(chat)).toBe("done");
    expect(moved).toHaveLength(1);
  });

  test("that another device was faster than is told what counted", async () => {
    const chat = await propose();
    await decide(chat.agent.pendingInterrupts[0]?.id ?? "", "ann", { decision: "reject" });
    await ended(runOf(chat));
    await answer(chat, { approved: true });
    expect(textOf(chat)).toBe("done");
    expect(moved).toEqual([]);
  });

  test("finds the answer in progress again, in two tabs, without a word twice", async () => {
    const name = `cut-${version}`;
    const chat = open(version, name);
    const cut = ask(chat, { text: ["slow"], holds: name }).catch(() => undefined);
    await expect.poll(() => textOf(chat)).toBe("slow");
    chat.agent.abortRun();
    await cut;
    const other = open(version, name);
    const tabs = [chat.agent.runAgent(), other.agent.runAgent()];
    await expect.poll(() => [textOf(chat), textOf(other)]).toEqual(["slow", "slow"]);
    await fetch(releaseUrl(name));
    await Promise.all(tabs);
    expect([rolesOf(chat), rolesOf(other)]).toEqual([
      ["user", "assistant"],
      ["user", "assistant"],
    ]);
    expect([textOf(chat), textOf(other)]).toEqual(["slow", "slow"]);
  });

  test("answers anew, and edits, on branches of their own", async () => {
    const chat = open(version);
    await say(chat, "one");
    await say(chat, "two");
    const answers = new Set([chat.agent.messages[3]?.id]);
    for (let times = 0; times < 2; times += 1) {
      chat.agent.setMessages(chat.agent.messages.slice(0, 3));
      await chat.agent.runAgent();
      answers.add(chat.agent.messages[3]?.id);
      expect(saidIn(chat)).toEqual(["one", "two"]);
    }
    expect(answers.size).toBe(3);
    chat.agent.setMessages(chat.agent.messages.slice(0, 2));
    await say(chat, "edited");
    expect(saidIn(chat)).toEqual(["one", "edited"]);
    chat.agent.setMessages(chat.agent.messages.slice(0, 1));
    await chat.agent.runAgent();
    expect(saidIn(chat)).toEqual(["one"]);
    chat.agent.setMessages([]);
    await say(chat, "afresh");
    expect(saidIn(chat)).toEqual(["afresh"]);
  });

  test("shows a half answer that was asked for again, until the end", async () => {
    const chat = open(version, undefined, "archive");
    const whole = { "spare-a": { text: ["Whole."] } };
    const half = script({ text: ["Half an"], breaks: true, as: whole });
    chat.agent.addMessage({ id: "m", role: "user", content: half });
    await chat.agent.runAgent({ forwardedProps: { interlock: { model: "brittle" } } });
    expect(typesOf(chat).slice(-2)).toEqual(["MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    expect(chat.agent.messages.map(({ content }) => content)).toEqual([half, "Whole."]);
  });

  test("is told of a failure and of a stop as its version knows them", async () => {
    const failed = open(version);
    await ask(failed, { text: ["half"], garbled: true });
    expect(failed.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: /./ });
    const chat = open(version);
    const stopped = ask(chat, { text: ["slow"], hangs: true });
    await expect.poll(() => textOf(chat)).toBe("slow");
    await send(`/v1/runs/${runOf(chat)}/cancel`, { caller: "ann", method: "POST" });
    await stopped;
    expect(chat.events.at(-1)).toMatchObject(
      version === "1.0.0"
        ? { type: "RUN_FINISHED", outcome: { type: "cancelled" } }
        : { type: "RUN_ERROR", code: "cancelled" },
    );
  });

  test("offers tools and tells of its page: no tool of a client runs, and the model reads the page", async () => {
    const chat = open(version);
    chat.agent.addMessage({ id: "m", role: "user", content: "words" });
    await chat.agent.runAgent({
      tools: [{ name: "confirm", description: "", parameters: {} }],
      context: [{ description: "page", value: "a cart of three" }],
    });
    expect(textOf(chat)).toContain("a cart of three");
    expect(textOf(chat)).not.toContain('"confirm"');
    expect(chat.events[1]).toMatchObject({
      name: "interlock:tools_ignored",
      value: { names: ["confirm"] },
    });
  });
});

describe("a post to /agui", () => {
  /** A client that holds one open question, and its last post as a body to forge. */
  const propose = async (): Promise<{ chat: AgUiChat; approvalId: string; body: PostedBody }> => {
    const chat = open("1.0.0");
    await ask(chat, { calls: [NOTIFY] }, DONE);
    const body = JSON.parse(chat.posted[0] ?? "") as PostedBody;
    const approvalId = chat.agent.pendingInterrupts[0]?.id ?? "";
    return { chat, approvalId, body: { ...body, runId: "forged", messages: chat.agent.messages } };
  };
  const resuming = (body: object, interruptId: string, payload: object = { approved: true }) =>
    JSON.stringify({ ...body, resume: [{ interruptId, status: "resolved", payload }] });

  test.each([
    ["no decision", {}],
    ["half a character in its reason", { approved: true, reason: "\ud800" }],
    ["half a character in its arguments", { approved: true, editedArgs: { what: "\ud800" } }],
    ["arguments that are no object", { approved: true, editedArgs: "what" }],
  ])("with %s is refused, and changes nothing", async (_name, payload) => {
    const { approvalId, body } = await propose();
    expect(await refusalOf(await postAgUi(resuming(body, approvalId, payload), "ann"))).toEqual([
      422,
      "invalid_request",
    ]);
    expect(moved).toEqual([]);
  });

  test("on a branch waits for the decision, and new words at the end withdraw the call", async () => {
    const { chat } = await propose();
    const words = { id: "n", role: "user", content: script({ text: ["I did not."] }) };
    const body = { ...(JSON.parse(chat.posted[0] ?? "") as PostedBody), runId: "n" };
    const branch = await postAgUi(JSON.stringify({ ...body, messages: [words] }), "ann");
    expect(await refusalOf(branch)).toEqual([409, "run_still_running"]);
    const messages = [...chat.agent.messages, words];
    const answer = await postAgUi(JSON.stringify({ ...body, messages }), "ann");
    expect(answer.headers.get("x-run-id")).toBe(runOf(chat));
    expect(await answer.text()).toContain("I did not.");
    expect(moved).toEqual([]);
  });

  test("with decisions and new words is refused, so that no words are lost", async () => {
    const { approvalId, body } = await propose();
    const messages = [...body.messages, { id: "n", role: "user", content: "and more" }];
    expect(
      await refusalOf(await postAgUi(resuming({ ...body, messages }, approvalId), "ann")),
    ).toEqual([409, "run_still_running"]);
    expect(moved).toEqual([]);
  });

  test("that is repeated under its names runs once, and under a new one it is answered anew", async () => {
    const chat = open("1.0.0");
    await ask(chat, { text: ["hello"] });
    const runId = runOf(chat);
    await ended(runId);
    const again = await postAgUi(chat.posted[0] ?? "", "ann");
    expect([again.headers.get("x-run-id"), await again.text()]).toEqual([
      runId,
      expect.stringContaining("hello"),
    ]);
    const anew = { ...(JSON.parse(chat.posted[0] ?? "") as PostedBody), runId: "anew" };
    const other = await postAgUi(JSON.stringify(anew), "ann");
    expect(other.headers.get("x-run-id")).not.toBe(runId);
    await other.text();
    const repeated = await postAgUi(JSON.stringify(anew), "ann");
    expect(repeated.headers.get("x-run-id")).toBe(other.headers.get("x-run-id"));
  });

  test("of another person under the same name is about another chat", async () => {
    const chats = [open("1.0.0", "same"), open("1.0.0", "same", "eve")];
    for (const [at, chat] of chats.entries()) await say(chat, `of ${at}`);
    expect(chats.map(saidIn)).toEqual([["of 0"], ["of 1"]]);
  });
});

interface PostedBody {
  readonly runId: string;
  readonly messages: readonly object[];
}
