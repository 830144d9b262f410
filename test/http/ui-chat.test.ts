import type { UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { APPROVE, callOf, decide, ended, openOf, useApprovalLab } from "../shared/people.ts";
import { withCall } from "../shared/posted-claims.ts";
import { refusalOf } from "../shared/run-object.ts";
import { API_OF, MAJORS, openUiChat, type UiChat } from "../shared/ui-chat.ts";
import { send, stateOf, type Caller } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";

useApprovalLab();

const say = (...steps: readonly ScriptedStep[]): { readonly text: string } => ({
  text: script(...steps),
});

const textOf = (message: UIMessage | undefined): string =>
  message?.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("") ?? "";

/** The words of people that a model was shown: it repeats the request of a free text. */
const saidIn = (message: UIMessage | undefined): readonly unknown[] => {
  const { messages } = JSON.parse(textOf(message)) as {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  };
  return messages.filter(({ role }) => role === "user").map(({ content }) => content);
};

describe.each(MAJORS)("version %i", (major) => {
  const post = (body: string, caller: Caller = "ann"): Promise<Response> =>
    send(API_OF[major], {
      caller,
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });

  const ask = (path: string, method: string): Promise<Response> =>
    send(path, { caller: "ann", method });

  const open = (id?: string, caller: Caller = "ann"): UiChat =>
    openUiChat((body) => post(body, caller), { id: id && `${id}-${major}`, major });

  describe("a chat of the AI SDK", () => {
    test("goes on with what was recorded, and not with what the client posts", async () => {
      const { chat, posted } = open();
      await chat.sendMessage({ text: "one" });
      const [question, answer] = chat.messages;
      chat.messages = [
        { ...question, id: "q", role: "user", parts: [{ type: "text", text: "a lie" }] },
        {
          ...answer,
          id: answer?.id ?? "",
          role: "assistant",
          parts: [{ type: "text", text: "made up" }],
        },
      ];
      await chat.sendMessage({ text: "two" });
      expect(posted[1]).toContain("made up");
      expect(textOf(chat.lastMessage)).not.toContain("made up");
      expect(saidIn(chat.lastMessage)).toEqual(["one", "two"]);
    });

    test("begins once, however often its first message is posted", async () => {
      const { chat, posted } = open("twice");
      await chat.sendMessage(say({ text: ["hello"] }));
      const again = await post(posted[0] ?? "");
      expect(again.headers.get("x-run-id")).toBe(chat.lastMessage?.id);
      expect(await again.text()).toContain("hello");
    });

    test("that began with another message, or was deleted, does not begin again", async () => {
      const { chat, posted } = open("taken");
      await chat.sendMessage(say({ text: ["hello"] }));
      const other = (posted[0] ?? "").replace('"parts":[', '"parts":[{"type":"text","text":"x"},');
      expect(await refusalOf(await post(other))).toEqual([409, "chat_id_reused"]);
      await ended(chat.lastMessage?.id ?? "");
      const path = `/v1/conversations/${chat.lastMessage?.id}`;
      expect((await send(path, { caller: "ann", method: "DELETE" })).ok).toBe(true);
      expect(await refusalOf(await post(other))).toEqual([409, "chat_id_reused"]);
      expect((await ask(`${API_OF[major]}/taken-${major}/stream`, "GET")).status).toBe(204);
    });

    test("of another person under the same name is another chat", async () => {
      const [anns, eves] = [open("same"), open("same", "eve")];
      await anns.chat.sendMessage({ text: "of ann" });
      await eves.chat.sendMessage({ text: "of eve" });
      expect(saidIn(eves.chat.lastMessage)).toEqual(["of eve"]);
    });

    test("answers anew on a branch beside the first answer", async () => {
      const { chat } = open();
      await chat.sendMessage({ text: "one" });
      await chat.sendMessage({ text: "two" });
      const before = chat.lastMessage?.id;
      await chat.regenerate();
      expect(chat.lastMessage?.id).not.toBe(before);
      expect(saidIn(chat.lastMessage)).toEqual(["one", "two"]);
      const second = chat.lastMessage?.id;
      await chat.regenerate();
      expect(new Set([before, second, chat.lastMessage?.id]).size).toBe(3);
      await chat.sendMessage({ text: "three" });
      expect(saidIn(chat.lastMessage)).toEqual(["one", "two", "three"]);
    });

    test.each([0, 2])("edits message %i on a branch of its own", async (at) => {
      const { chat } = open();
      await chat.sendMessage({ text: "one" });
      await chat.sendMessage({ text: "two" });
      await chat.sendMessage({ text: "edited", messageId: chat.messages[at]?.id ?? "" });
      expect(saidIn(chat.lastMessage)).toEqual(at === 0 ? ["edited"] : ["one", "edited"]);
    });

    test("is followed again from its start while it runs, and stopped for good", async () => {
      const { chat } = open("held");
      const sent = chat.sendMessage(say({ text: ["slow"], hangs: true }));
      await expect.poll(() => textOf(chat.lastMessage)).toBe("slow");
      const other = openUiChat(() => ask(`${API_OF[major]}/held-${major}/stream`, "GET"), {
        id: "held",
        major,
      });
      const resumed = other.chat.resumeStream();
      await expect.poll(() => textOf(other.chat.lastMessage)).toBe("slow");
      expect((await ask(`${API_OF[major]}/held-${major}/stop`, "POST")).status).toBe(204);
      await Promise.all([sent, resumed]);
      expect([chat.status, other.chat.status]).toEqual(["ready", "ready"]);
      expect((await ask(`${API_OF[major]}/held-${major}/stream`, "GET")).status).toBe(204);
      expect((await ask(`${API_OF[major]}/nobodys/stream`, "GET")).status).toBe(204);
    });

    test("is followed again from the words that the person said meanwhile", async () => {
      const { chat } = open("said");
      await chat.sendMessage(say({ calls: [callOf("lab__notify", { what: "hello" })] }));
      const sent = chat.sendMessage(say({ text: ["slow"], hangs: true }));
      await expect.poll(() => textOf(chat.lastMessage)).toBe("slow");
      const path = `${API_OF[major]}/said-${major}`;
      const other = openUiChat(() => ask(`${path}/stream`, "GET"), { id: `said-${major}`, major });
      other.chat.messages = structuredClone(chat.messages.slice(0, 3));
      const resumed = other.chat.resumeStream();
      await expect.poll(() => textOf(other.chat.lastMessage)).toBe("slow");
      const idsOf = (one: UiChat["chat"]): readonly string[] => one.messages.map(({ id }) => id);
      expect(idsOf(other.chat)).toEqual(idsOf(chat));
      expect(new Set(idsOf(chat)).size).toBe(4);
      await ask(`${path}/stop`, "POST");
      await Promise.all([sent, resumed]);
    });

    test("is told when another device has gone on, and what it wrote is kept", async () => {
      const here = open("devices");
      await here.chat.sendMessage({ text: "one" });
      const there = open("devices");
      there.chat.messages = structuredClone(here.chat.messages);
      await there.chat.sendMessage({ text: "from there" });
      await here.chat.sendMessage({ text: "from here" });
      expect(here.chat.status).toBe("error");
      expect(here.chat.error?.message).toContain("conversation_moved");
      expect(textOf(here.chat.lastMessage)).toBe("from here");
    });

    test("sends images, and a file of another kind than its model takes is refused", async () => {
      const { chat } = open();
      await chat.sendMessage({
        files: [{ type: "file", mediaType: "text/csv", url: "data:text/csv;base64,YQ==" }],
        text: "look",
      });
      expect(chat.error?.message).toContain('"code"');
    });
  });

  describe("a decision in a chat of the AI SDK", () => {
    const NOTIFY = callOf("lab__notify", { what: "hello" });
    const propose = async (): Promise<UiChat & { readonly approvalId: string }> => {
      const opened = open();
      await opened.chat.sendMessage(say({ calls: [NOTIFY] }, { text: ["done"] }));
      const state = await stateOf(opened.chat.lastMessage?.id ?? "", "ann");
      return { ...opened, approvalId: openOf(state)[0] ?? "" };
    };

    test("lets the call run once, and the answer goes on in the same message", async () => {
      const { chat, approvalId, posted } = await propose();
      expect(moved).toEqual([]);
      await chat.addToolApprovalResponse({ id: approvalId, approved: true });
      await expect.poll(() => textOf(chat.lastMessage)).toBe("done");
      expect(chat.messages).toHaveLength(2);
      expect(chat.lastMessage?.parts[1]).toMatchObject({
        state: "output-available",
        approval: { approved: true },
      });
      expect(moved).toHaveLength(1);
      const again = await post(posted[1] ?? "");
      expect(await again.text()).toContain("done");
      expect(moved).toHaveLength(1);
    });

    test("that rejects leaves the call undone, with the reason", async () => {
      const { chat, approvalId } = await propose();
      await chat.addToolApprovalResponse({ id: approvalId, approved: false, reason: "not now" });
      await expect.poll(() => textOf(chat.lastMessage)).toBe("done");
      expect(chat.lastMessage?.parts[1]).toMatchObject({ state: "output-denied" });
      expect(moved).toEqual([]);
    });

    test("that another device took first counts, and this one is told", async () => {
      const { chat, approvalId } = await propose();
      await decide(approvalId, "ann", { decision: "reject" });
      await ended(chat.lastMessage?.id ?? "");
      await chat.addToolApprovalResponse({ id: approvalId, approved: true });
      await expect.poll(() => textOf(chat.lastMessage)).toBe("done");
      expect(chat.lastMessage?.parts[1]).toMatchObject({ state: "output-denied" });
      expect(moved).toEqual([]);
    });

    test("of others waits for them", async () => {
      const { chat } = open();
      const transfer = callOf("lab__transfer", { to: "bakery", amount: 4 });
      await chat.sendMessage(say({ calls: [transfer] }, { text: ["done"] }));
      const runId = chat.lastMessage?.id ?? "";
      expect(chat.lastMessage?.parts[1]).not.toHaveProperty("approval");
      const [approvalId = ""] = openOf(await stateOf(runId, "ann"));
      for (const person of ["bob", "cat"] as const) await decide(approvalId, person, APPROVE);
      await ended(runId);
      expect(moved).toHaveLength(1);
    });

    test.each([
      ["half a character", { reason: "\ud800" }],
      ["no approval", { id: 1 }],
    ])("with %s is refused, and changes nothing", async (_name, given) => {
      const { chat, approvalId, posted } = await propose();
      const body = withDecision(posted[0] ?? "", chat, approvalId, given);
      expect(await refusalOf(await post(body))).toEqual([422, "invalid_request"]);
      expect(moved).toEqual([]);
    });

    test.each<[string, (message: UIMessage) => UIMessage]>([
      ["no decision", (message) => message],
      ["no place", ({ metadata: _metadata, ...message }) => message],
    ])("with %s is none", async (_name, forge) => {
      const { chat, posted } = await propose();
      const body = JSON.parse(posted[0] ?? "") as { messages: UIMessage[] };
      const message = chat.lastMessage;
      if (!message) throw new Error("no message");
      body.messages.push(forge(structuredClone(message)));
      expect(await refusalOf(await post(JSON.stringify(body)))).toEqual([422, "nothing_to_decide"]);
      expect(moved).toEqual([]);
    });
  });
});

/** What a client posts that answers an approval, whether or not it was asked. */
function withDecision(first: string, chat: UiChat["chat"], id: string, given: object): string {
  const approval = { id, approved: true, ...given };
  return JSON.stringify(withCall(first, chat, { state: "approval-responded", approval }));
}
