import * as v from "valibot";
import { ROOT } from "../../protocol/conversation/turn.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { parseEventId } from "../../protocol/run/event-id.ts";
import { chatRequestBody, type ChatRequestBody } from "../../protocol/run/chat-request.ts";
import { voteReason } from "../approvals/approvals.ts";
import { runInId } from "./named-chat.ts";
import type { PostedDecisions } from "./posted-decisions.ts";

const MAX_MESSAGES = 1_000;
const MAX_PARTS = 1_000;

const name = v.pipe(v.string(), v.nonEmpty(), v.maxLength(128));
/** The decision of a person, as a client writes it into its copy of the message. */
const decided = v.object({
  state: v.literal("approval-responded"),
  approval: v.object({ id: v.string(), approved: v.boolean(), reason: voteReason }),
});

const part = v.pipe(
  v.custom<JsonObject>(isJsonObject, "a JSON object"),
  v.check(
    (value) => value["state"] !== "approval-responded" || v.is(decided, value),
    "a decision with the id of its approval",
  ),
);
const message = v.object({
  id: name,
  role: v.picklist(["system", "user", "assistant"]),
  metadata: v.optional(v.unknown()),
  parts: v.pipe(v.array(part), v.maxLength(MAX_PARTS)),
});
type UiMessage = v.InferOutput<typeof message>;

const {
  messages: _messages,
  previousRunId: _head,
  conversationId: _id,
  chatId: _chatId,
  parentId: _parent,
  ...own
} = chatRequestBody.entries;

/** What assistant-ui posts beside the messages. No tool and no setting of a page counts here. */
export const pageModel = {
  /** What the page tells the model: data, and no instruction. */
  system: v.optional(v.string()),
  tools: v.optional(v.unknown()),
  callSettings: v.optional(v.unknown()),
  config: v.optional(v.unknown()),
  metadata: v.optional(v.unknown()),
};

/**
 * What a `useChat` client posts, and beside it the fields of `POST /v1/chat` that a page sets in
 * `body`. It is closed: an unknown field is refused.
 * Source: ai 7.0.173, HttpChatTransport.
 */
export const uiPost = v.strictObject({
  ...own,
  /** The client's name of the chat. */
  id: name,
  messages: v.pipe(v.array(message), v.minLength(1), v.maxLength(MAX_MESSAGES)),
  trigger: v.optional(v.picklist(["submit-message", "regenerate-message"]), "submit-message"),
  /** The message that is edited, or answered anew. Absent: the newest one is new. */
  messageId: v.optional(name),
  ...pageModel,
});
export type UiPost = v.InferOutput<typeof uiPost>;

/**
 * Reads the decisions of a post that ends with an answer; undefined for a post that ends with the
 * words of a person. Contract: pure. Whether they count is for the run to say.
 */
export function decisionsOf({ messages }: UiPost): PostedDecisions | undefined {
  const newest = messages.at(-1);
  if (newest?.role !== "assistant") return undefined;
  const decisions = newest.parts.flatMap((part) => {
    const read = v.safeParse(decided, part);
    if (!read.success) return [];
    const { id: approvalId, approved, reason } = read.output.approval;
    const decision = approved ? ("approve" as const) : ("reject" as const);
    return [{ approvalId, decision, ...(reason !== undefined && { reason }) }];
  });
  const { metadata } = newest;
  const waitsAt = isJsonObject(metadata) ? metadata["waitsAt"] : undefined;
  const after = typeof waitsAt === "string" ? parseEventId(waitsAt) : undefined;
  return { runId: runInId(newest.id) ?? "", decisions, after };
}

/**
 * Reads the newest message of the person as a request, and its place in the conversation: an answer
 * has the id of its run. Nothing else of the posted history is read. The result is checked as any
 * request is. Contract: pure.
 */
export function requestOf(
  { id: _chat, messages, trigger, messageId, ...own }: UiPost,
  conversationId: string,
): unknown {
  const {
    system,
    tools: _,
    callSettings: _calls,
    config: _config,
    metadata: _about,
    ...fields
  } = own;
  const newest = messages.at(-1);
  const answer = messages.findLast(isAnswer);
  const before = answer && runInId(answer.id);
  const isAgain = trigger === "regenerate-message";
  const isBranch = isAgain || messageId !== undefined;
  const place = isBranch
    ? { conversationId, parentId: before ?? ROOT }
    : before === undefined
      ? messages.length > 1 && { conversationId }
      : { conversationId, previousRunId: before };
  return {
    ...(system !== undefined && { context: { page: system } }),
    ...fields,
    ...place,
    messageId: newest?.id,
    ...(isAgain && { regenerate: true }),
    messages: [{ role: "user", content: newest?.parts.map(toContent) }],
  } satisfies Partial<Record<keyof ChatRequestBody, unknown>>;
}

/** Finds the id of new words of the person; undefined where the post edits, or answers anew. */
export function newWordsOf({ messages, trigger, messageId }: UiPost): string | undefined {
  return trigger === "submit-message" && messageId === undefined ? messages.at(-1)?.id : undefined;
}

/** A greeting that a page wrote is no answer. */
function isAnswer({ role, id }: UiMessage): boolean {
  return role === "assistant" && runInId(id) !== undefined;
}

function toContent({ type, ...fields }: JsonObject): unknown {
  if (type !== "file") return { type, text: fields["text"] };
  const { mediaType, url, filename } = fields;
  const named = filename === undefined ? {} : { filename };
  return typeof mediaType === "string" && mediaType.startsWith("image/")
    ? { type: "image", image: url, ...named }
    : { type: "file", data: url, mimeType: mediaType, ...named };
}
