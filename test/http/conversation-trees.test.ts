import { evictDurableObject } from "cloudflare:test";
import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { ConversationState } from "../../src/capabilities/conversation.ts";
import type { ShownTurn } from "../../src/protocol/conversation/shown.ts";
import type { ConversationSummary } from "../../src/protocol/conversation/summary.ts";
import { script } from "../fakes/scripted-model.ts";
import { say, textOf, untilKept, type Said } from "../shared/conversations.ts";
import { planIncarnation } from "../shared/crash-points.ts";
import { crash, ring, stubOf } from "../shared/run-object.ts";
import { sampleOfRuns } from "../shared/sample.ts";
import { dump, findEverywhere } from "../shared/traces.ts";
import { chunksOf, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);

/** A turn as it must be read. */
interface Expected {
  readonly runId: string;
  readonly parentId: string | undefined;
  readonly messageId: string | undefined;
  readonly asked: string;
  readonly answered: string;
}

/** One chat, what was said in it, and the head that each of its devices knows. */
interface Chat {
  readonly name: string;
  readonly turns: Expected[];
  readonly heads: [string, string];
  posts: number;
}

interface Act {
  readonly kind: "post" | "both" | "branch" | "edit" | "regenerate" | "repeat";
  readonly device: 0 | 1;
  /** Chooses an earlier turn. */
  readonly at: number;
  /** What dies meanwhile. */
  readonly dies: "nothing" | "conversation" | "write" | "run" | "idle";
}

const act = fc.record<Act>({
  kind: fc.constantFrom("post", "both", "branch", "edit", "regenerate", "repeat"),
  device: fc.constantFrom(0, 1),
  at: fc.nat(30),
  dies: fc.constantFrom("nothing", "nothing", "conversation", "write", "run", "idle"),
});

const idOf = ({ turns: [first] }: Chat): string => first?.runId ?? "";

function newMessage(chat: Chat): Pick<Expected, "asked" | "answered" | "messageId"> {
  const word = `${chat.name}-${chat.posts++}`;
  const answered = `answer to ${word}. `;
  const steps = [{ text: [answered, "It is long. "], times: 2 }];
  return {
    asked: JSON.stringify({ steps, word }),
    answered: `${answered}It is long. `.repeat(2),
    messageId: word,
  };
}

/** Lets something die while a request is on its way. */
async function kill(chat: Chat, { dies, at }: Act): Promise<void> {
  const conversation = stubOf(idOf(chat));
  const { runId } = chat.turns[at % chat.turns.length] ?? { runId: idOf(chat) };
  if (dies === "conversation") await crash(idOf(chat));
  if (dies === "run") await crash(runId);
  if (dies === "idle") await evictDurableObject(conversation).catch(() => {});
  if (dies === "write") {
    await crash(idOf(chat));
    const mode = (["before", "after", "durable"] as const)[at % 3] ?? "after";
    planIncarnation({ objectId: conversation.id.toString(), at: 1 + (at % 6), mode });
  }
}

type Answer =
  | { readonly kind: "run"; readonly runId: string }
  | { readonly kind: "moved"; readonly headId: string }
  | { readonly kind: "erased" };

/** Posts again until the server says what became of it, as a client does. */
async function post(said: Said): Promise<Answer> {
  for (;;) {
    const response = await say(said).catch(() => undefined);
    if (response?.status === 200) {
      const runId = runIdOf(response);
      await response.text().catch(() => {});
      await expect
        .poll(async () => (await stateOf(runId).catch(() => undefined))?.status)
        .toBe("completed");
      return { kind: "run", runId };
    }
    const text = (await response?.text().catch(() => "")) ?? "";
    if (!response || response.status >= 500 || text.includes("run_still_running")) continue;
    const { code, headId } = JSON.parse(text) as { code: string; headId?: string };
    if (code === "conversation_moved" && headId !== undefined) return { kind: "moved", headId };
    if (code === "conversation_erased") return { kind: "erased" };
    throw new Error(text);
  }
}

/** Posts at the head that a device knows. Of a head that moved, the device hears. */
async function continueAt(chat: Chat, device: 0 | 1): Promise<void> {
  const message = newMessage(chat);
  const parentId = chat.heads[device];
  const { asked: content, messageId } = message;
  const place = { conversationId: idOf(chat), previousRunId: parentId };
  const answer = await post({ ...place, content, messageId });
  if (answer.kind === "erased") throw new Error("the conversation is gone");
  chat.heads[device] = answer.kind === "run" ? answer.runId : answer.headId;
  if (answer.kind === "run") chat.turns.push({ ...message, parentId, runId: answer.runId });
}

async function branchAt(chat: Chat, { kind, device, at }: Act): Promise<void> {
  const turn = chat.turns[at % chat.turns.length];
  if (!turn) throw new Error("a chat has a turn");
  const fresh = newMessage(chat);
  const isBranch = kind === "branch" || turn.messageId === undefined;
  const isAgain = kind === "regenerate" && !isBranch;
  const parentId = isBranch ? turn.runId : turn.parentId;
  const { messageId } = isBranch ? fresh : turn;
  const { asked, answered } = isAgain ? turn : fresh;
  const answer = await post({
    conversationId: idOf(chat),
    parentId: parentId ?? "root",
    content: asked,
    messageId,
    key: crypto.randomUUID(),
    ...(isAgain && { regenerate: true }),
  });
  if (answer.kind !== "run") throw new Error(answer.kind);
  chat.turns.push({ runId: answer.runId, parentId, messageId, asked, answered });
  chat.heads[device] = answer.runId;
}

/** Sends what was sent before. Its run is known already. */
async function repeat(chat: Chat, { at }: Act): Promise<void> {
  const turn = chat.turns[at % chat.turns.length];
  if (turn?.messageId === undefined) return;
  const { asked: content, messageId, parentId = "root" } = turn;
  const answer = await post({ conversationId: idOf(chat), parentId, content, messageId });
  const known = chat.turns.filter((one) => one.asked === content).map(({ runId }) => runId);
  expect(known).toContain(answer.kind === "run" && answer.runId);
}

async function perform(chat: Chat, step: Act): Promise<void> {
  const { kind, device } = step;
  const acting =
    kind === "post"
      ? continueAt(chat, device)
      : kind === "both"
        ? Promise.all([continueAt(chat, 0), continueAt(chat, 1)])
        : kind === "repeat"
          ? repeat(chat, step)
          : branchAt(chat, step);
  await Promise.all([acting, kill(chat, step)]);
}

interface Page {
  readonly turns: readonly ShownTurn[];
  readonly next?: string;
}

/** Does something that a crash may interrupt until it is done. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const done = await work().then(
      (value) => ({ value }),
      () => undefined,
    );
    if (done) return done.value;
  }
}

function get<T>(path: string): Promise<T> {
  return again(async () => {
    const response = await send(path, { caller: "acme" });
    if (response.status >= 500) throw new Error("the object died");
    return response.json<T>();
  });
}

/** Reads the whole conversation page by page, the oldest turn first. */
async function readTurns(id: string, limit: number): Promise<readonly ShownTurn[]> {
  const turns: ShownTurn[] = [];
  for (let cursor = ""; ;) {
    const path = `/v1/conversations/${id}/messages?limit=${limit}${cursor}`;
    const page = await get<Page>(path);
    turns.unshift(...page.turns.toReversed());
    if (page.next === undefined) return turns;
    cursor = `&cursor=${page.next}`;
  }
}

function read({ runId, parentId, messageId, messages }: ShownTurn): Expected {
  const [asked, answered] = messages;
  const parts = answered && "parts" in answered ? answered.parts : [];
  return {
    runId,
    parentId,
    messageId,
    asked: asked && "text" in asked ? asked.text : "",
    answered: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
  };
}

const byRun = (one: Expected, other: Expected): number => (one.runId < other.runId ? -1 : 1);

/** Every device reads what was said, once, in its place. */
async function compare(chat: Chat): Promise<void> {
  const id = idOf(chat);
  const early = await readTurns(id, 3);
  for (const { runId } of chat.turns) {
    // What died before its delivery is delivered by an alarm.
    for (const name of ["watchdog", "outbox"] as const) await again(() => ring(runId, name));
  }
  await untilKept(id, chat.turns.length);
  const [small, large] = await Promise.all([readTurns(id, 2), readTurns(id, 50)]);
  expect(small).toEqual(early);
  expect(small).toEqual(large);
  expect(small.map(read).toSorted(byRun)).toEqual(chat.turns.toSorted(byRun));
  const exported = await get<Page>(`/v1/conversations/${id}/export`);
  expect(exported.turns).toEqual(small);
  expect(await get<ConversationState>(`/v1/conversations/${id}`)).toMatchObject({
    status: "completed",
    turns: chat.turns.length,
    headId: small.at(-1)?.runId,
  });
  await expect.poll(() => listed(id)).toMatchObject({ turns: chat.turns.length });
  await checkPath(chat, small.at(-1)?.runId);
}

async function listed(id: string): Promise<ConversationSummary | undefined> {
  const { conversations } = await get<{ conversations: readonly ConversationSummary[] }>(
    "/v1/conversations?limit=100",
  );
  return conversations.find(({ conversationId }) => conversationId === id);
}

/** The model is shown each message of the path once, in order, and nothing of another branch. */
async function checkPath(chat: Chat, head: string | undefined): Promise<void> {
  const path: string[] = [];
  for (let at = head; at !== undefined;) {
    const turn = chat.turns.find(({ runId }) => runId === at);
    path.unshift(turn?.asked ?? "", turn?.answered ?? "");
    at = turn?.parentId;
  }
  const content = script({ shows: true });
  const answer = await post({ conversationId: idOf(chat), content, messageId: "look" });
  if (answer.kind !== "run") throw new Error(answer.kind);
  const events = await send(`/v1/runs/${answer.runId}/events`, { caller: "acme" });
  const { messages } = JSON.parse(textOf(await chunksOf(events))) as {
    readonly messages: readonly { readonly content: string }[];
  };
  expect(messages.map((message) => message.content)).toEqual([...path, content]);
}

async function erase(chat: Chat): Promise<void> {
  const path = `/v1/conversations/${idOf(chat)}`;
  const deleteOnce = (): Promise<Response | undefined> =>
    send(path, { caller: "acme", method: "DELETE" }).catch(() => undefined);
  await expect.poll(async () => (await deleteOnce())?.status).toBe(200);
}

/** Deletes the chat while a device goes on with it and something dies. */
async function eraseWhilePosting(chat: Chat, step: Act): Promise<void> {
  const { asked: content, messageId } = newMessage(chat);
  const place = { conversationId: idOf(chat), parentId: chat.heads[step.device] };
  const posted = post({ ...place, content, messageId });
  await Promise.all([erase(chat), posted, kill(chat, step)]);
  const late = await post({ ...place, content: "late", messageId: "late" });
  expect(late.kind).toBe("erased");
}

let chats = 0;

async function begin(): Promise<Chat> {
  const chat: Chat = { name: `chat${chats++}x`, turns: [], heads: ["", ""], posts: 0 };
  const { asked, answered } = newMessage(chat);
  const answer = await post({ content: asked, key: chat.name });
  if (answer.kind !== "run") throw new Error(answer.kind);
  const place = { runId: answer.runId, parentId: undefined, messageId: undefined };
  chat.turns.push({ ...place, asked, answered });
  chat.heads.fill(answer.runId);
  return chat;
}

test("a chat that several devices carry on is read alike everywhere, and is deleted whole, whatever dies", async () => {
  const deleted: string[] = [];
  await fc.assert(
    fc.asyncProperty(act, fc.array(act, { minLength: 2, maxLength: 10 }), async (last, acts) => {
      const chat = await begin();
      for (const step of acts) await perform(chat, step);
      await compare(chat);
      expect(await dump(stubOf(idOf(chat)))).toContain(`${chat.name}-`);
      await eraseWhilePosting(chat, last);
      deleted.push(`${chat.name}-`);
    }),
    sampleOfRuns(50),
  );
  await expect.poll(() => findEverywhere(deleted)).toEqual([]);
});
