import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { chatRequestBody } from "../../protocol/run/chat-request.ts";
import type { Aside } from "../../protocol/run/request.ts";
import { uiMessage6Wire } from "../../wire/ui-message/wire-6.ts";
import { maxBodyBytes } from "../claim/message-files.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { readSizedJson } from "../request/read-json.ts";
import { startRun } from "../runs/chat.ts";
import { firstRunOf, requestByName } from "./named-chat.ts";
import { followMessage } from "./ui-message-start.ts";

const MAX_MESSAGES = 1_000;

const name = v.pipe(v.string(), v.nonEmpty(), v.maxLength(128));
const object = v.custom<JsonObject>(isJsonObject, "a JSON object");
const { assistantId, model, toolIds, connectionIds, workspaceId, limits } = chatRequestBody.entries;
const own = { assistantId, model, toolIds, connectionIds, workspaceId, limits };

/**
 * What `useDataStreamRuntime` of assistant-ui posts. A member that is not here changes nothing.
 * Source: @assistant-ui/react-data-stream 0.12.32.
 */
export const dataStreamPost = v.object({
  /** The page names its chat; the runtime's own name of a thread is the same on every page. */
  id: name,
  threadId: v.optional(name),
  /** New with every answer that the runtime asks for. */
  unstable_assistantMessageId: name,
  messages: v.pipe(
    v.array(v.object({ role: v.string(), content: v.union([v.string(), v.array(object)]) })),
    v.maxLength(MAX_MESSAGES),
  ),
  system: v.optional(v.string()),
  ...own,
});
type DataStreamPost = v.InferOutput<typeof dataStreamPost>;

/** Serves `useDataStreamRuntime`. */
export const DATA_STREAM_ROUTES: Routes = {
  "/api/data-stream": { POST: { scope: "chat", handle: postDataStream } },
};

/**
 * `POST /api/data-stream`: the newest words of the person, at the end of their chat. The runtime
 * posts no id of an answer, so nothing else of the posted history is read.
 * Threat: a client makes up answers and results in the history that it posts.
 */
async function postDataStream(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const maxBytes = maxBodyBytes(services.models);
  const read = await readSizedJson(request, dataStreamPost, { maxBytes });
  if (!read.ok) return read.failure;
  const { value: post, bytes: bodyBytes } = read.value;
  const { id, threadId = "", unstable_assistantMessageId: answer } = post;
  const chat = await firstRunOf(authorised, `${id}\n${threadId}`);
  const asked = await requestByName(authorised, { chat, post: answer, said: saidIn(post) });
  if (!asked.ok) return asked.failure;
  const wire = uiMessage6Wire;
  const aside = {
    name: answer,
    follow: (runId, at) => followMessage(authorised, { runId, at, wire }),
  } satisfies Aside;
  return startRun(authorised, { ...asked.value, aside, bodyBytes }, wire);
}

function saidIn({ messages, system, ...post }: DataStreamPost): object {
  const { content } = messages.findLast(({ role }) => role === "user") ?? {};
  const fields = Object.keys(own).map((field) => [field, post[field as keyof typeof own]] as const);
  return {
    ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
    ...(system !== undefined && { context: { page: system } }),
    messages: [{ role: "user", content: Array.isArray(content) ? content.map(toPart) : content }],
  };
}

function toPart({ type, text, data, mediaType, filename }: JsonObject): JsonObject {
  if (type !== "file") return { type: type ?? "", text: text ?? "" };
  const named = filename === undefined ? {} : { filename };
  return typeof mediaType === "string" && mediaType.startsWith("image/")
    ? { type: "image", image: data ?? "", ...named }
    : { type, data: data ?? "", mimeType: mediaType ?? "", ...named };
}
