import * as v from "valibot";
import type { RunId } from "../../protocol/identity/ids.ts";
import { ROOT } from "../../protocol/conversation/turn.ts";
import { isJsonObject } from "../../protocol/json/value.ts";
import { chatRequestBody, type ChatRequestBody } from "../../protocol/run/chat-request.ts";
import { answerFields, editedArguments, lastingWish, voteReason } from "../approvals/approvals.ts";
import { runInId } from "./named-chat.ts";
import type { PostedDecision } from "./posted-decisions.ts";

const MAX_MESSAGES = 1_000;
const MAX_RESUMED = 50;

const name = v.pipe(v.string(), v.nonEmpty(), v.maxLength(128));
const message = v.looseObject({ id: name, role: v.string() });
/** A message as a client posts it. Only the newest words of the person are read. */
export type AgUiMessage = v.InferOutput<typeof message>;

const resumed = v.variant("status", [
  v.object({ interruptId: v.string(), status: v.literal("cancelled") }),
  v.object({
    interruptId: v.string(),
    status: v.literal("resolved"),
    payload: v.union([
      v.object({
        approved: v.boolean(),
        reason: voteReason,
        editedArgs: editedArguments,
        lasting: v.optional(lastingWish),
      }),
      v.object({ answer: answerFields, reason: voteReason }),
    ]),
  }),
]);

const { assistantId, model, toolIds, connectionIds, workspaceId, limits } = chatRequestBody.entries;
const own = v.strictObject({ assistantId, model, toolIds, connectionIds, workspaceId, limits });

/**
 * What an AG-UI client posts, in 1.0 and before. Fields that it does not name are passed over, as
 * the protocol wants. Source: docs.ag-ui.com/spec/1.0/basic/run-input, read 2026-11-24.
 */
export const agUiPost = v.object({
  threadId: name,
  runId: name,
  protocolVersion: v.optional(v.string()),
  state: v.unknown(),
  messages: v.pipe(v.array(message), v.maxLength(MAX_MESSAGES)),
  tools: v.optional(v.array(v.object({ name })), []),
  context: v.optional(v.array(v.object({ description: v.string(), value: v.string() })), []),
  /** `interlock` holds fields of `POST /v1/chat`; it is closed. */
  forwardedProps: v.optional(v.object({ interlock: v.optional(own) })),
  resume: v.optional(v.pipe(v.array(resumed), v.maxLength(MAX_RESUMED)), []),
});
export type AgUiPost = v.InferOutput<typeof agUiPost>;

/** Reads the decisions of a post. Who gives a question up does not allow its call. */
export function decisionsOf({ resume }: AgUiPost): readonly PostedDecision[] {
  return resume.map((entry) => {
    const { interruptId: approvalId } = entry;
    if (entry.status === "cancelled") return { approvalId, decision: "reject" };
    const { payload } = entry;
    const { reason } = payload;
    const said = { approvalId, ...(reason !== undefined && { reason }) };
    if ("answer" in payload) return { ...said, decision: "answer", answer: payload.answer };
    const { approved, editedArgs: edited, lasting } = payload;
    return {
      ...said,
      decision: approved ? "approve" : "reject",
      ...(approved && edited && { arguments: edited }),
      ...(approved && !edited && lasting && { lasting }),
    };
  });
}

/** Finds the newest message of the person. */
export function newestWordsOf({ messages }: AgUiPost): AgUiMessage | undefined {
  return messages.findLast(({ role }) => role === "user");
}

/** Reads what a post says that nobody has said before, wherever in the chat it stands. */
export function saidIn(post: AgUiPost): Partial<Record<keyof ChatRequestBody, unknown>> {
  const { context, forwardedProps } = post;
  const newest = newestWordsOf(post);
  return {
    ...forwardedProps?.interlock,
    ...(context.length > 0 && { context: { entries: context } }),
    messageId: newest?.id,
    messages: [{ role: "user", content: contentOf(newest) }],
  };
}

/**
 * Reads the place of a post in its conversation: after the answer that stands before the newest
 * words, whose ids begin with that of their run. A client that cuts its history back begins a
 * branch. Contract: pure; nothing else of the posted history is read.
 */
export function placeOf({ messages }: AgUiPost, headId: RunId): Partial<ChatRequestBody> {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const earlier = messages.slice(0, at).filter(({ role }) => role !== "user");
  const before = earlier.flatMap(({ id }) => runInId(id) ?? []).at(-1);
  const isUnknown = before === undefined && earlier.some(({ role }) => role === "assistant");
  return before === headId || isUnknown
    ? { previousRunId: headId }
    : { parentId: before ?? ROOT, regenerate: true };
}

/** The protocol wants parts that nobody can use to be passed over. */
function contentOf(newest: AgUiMessage | undefined): unknown {
  const content = newest?.["content"];
  return Array.isArray(content) ? content.flatMap(toPart) : content;
}

function toPart(part: unknown): readonly unknown[] {
  if (!isJsonObject(part)) return [part];
  const { type, text, source } = part;
  if (type === "text") return [{ type, text }];
  const from = isJsonObject(source) ? source : part;
  const { mimeType: kind, type: how, value, data = how === "data" && value } = from;
  const mimeType = typeof kind === "string" ? kind : "";
  const { url: address = value } = from;
  const url = typeof data === "string" ? `data:${mimeType};base64,${data}` : address;
  if (typeof url !== "string") return [];
  if (type === "image" || (type === "binary" && mimeType.startsWith("image/"))) {
    return [{ type: "image", image: url }];
  }
  return type === "document" || type === "binary" ? [{ type: "file", data: url, mimeType }] : [];
}
