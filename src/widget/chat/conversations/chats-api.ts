import { say, type Text } from "../../texts/say.ts";
import { createCall, type BodyOf, type QueryOf } from "../../../client/call.ts";
import type { Failure } from "../../../client/failure.ts";
import { type ClientOptions, toPorts } from "../../../client/ports.ts";
import { describeFailure } from "../../describe-failure.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../../protocol/outcome/result.ts";

/** One chat of the reader's list. */
export interface ListedChat {
  readonly id: string;
  /** Absent: neither a tool nor the person gave it one. */
  readonly title?: string;
  readonly status: string;
  /** When its newest turn began; ISO 8601. */
  readonly updatedAt: string;
}

/** Why a request failed. `message` is for the reader. */
export interface ChatsFailure {
  readonly status: number;
  readonly message: string;
}

type Answer<T> = Promise<Result<T, ChatsFailure>>;

/** The part of the public API that the list of chats and feedback need. */
export interface ChatsApi {
  list(
    query: QueryOf<"GET /v1/conversations">,
    signal: AbortSignal,
  ): Answer<{ readonly chats: readonly ListedChat[]; readonly next: string | undefined }>;
  /** Gives a chat a title; answers the title that it has. */
  rename(id: string, title: string): Answer<string>;
  /** Deletes a chat; answers how many of its turns the server still deletes. */
  remove(id: string): Answer<number>;
  /** Says what the reader thinks of an answer. */
  rate(id: string, feedback: BodyOf<"PUT /v1/conversations/{id}/feedback">): Answer<unknown>;
}

/** Creates what the list of chats needs on the typed client. Contract: no method throws. */
export function createChatsApi(options: ClientOptions): ChatsApi {
  const call = createCall(toPorts(options));
  return {
    async list(query, signal) {
      const answer = inWords(await call("GET /v1/conversations", { query, signal }));
      if (!answer.ok) return answer;
      const { conversations, next } = answer.value;
      const chats = Array.isArray(conversations) ? conversations.flatMap(readChat) : [];
      return ok({ chats, next: typeof next === "string" ? next : undefined });
    },
    async rename(id, title) {
      const path = { id };
      const answer = inWords(await call("PATCH /v1/conversations/{id}", { path, body: { title } }));
      const given = answer.ok ? answer.value["title"] : undefined;
      return answer.ok ? ok(typeof given === "string" ? given : title) : answer;
    },
    async remove(id) {
      const answer = inWords(await call("DELETE /v1/conversations/{id}", { path: { id } }));
      // Another device deleted it first.
      if (!answer.ok) return GONE.has(answer.failure.status) ? ok(0) : answer;
      const { turnsLeft } = answer.value;
      return ok(typeof turnsLeft === "number" ? turnsLeft : 0);
    },
    async rate(id, body) {
      return inWords(await call("PUT /v1/conversations/{id}/feedback", { path: { id }, body }));
    },
  };
}

const GONE: ReadonlySet<number> = new Set([404, 410]);

function inWords(answer: Result<unknown, Failure>): Result<JsonObject, ChatsFailure> {
  if (answer.ok) return ok(isJsonObject(answer.value) ? answer.value : {});
  const { status = 0, problem } = answer.failure;
  const message = describeBusy({ ...problem }) || describeFailure(answer.failure);
  return fail({ status, message });
}

/** Why a chat cannot be deleted now, and what the reader can do. */
const BUSY: Readonly<Record<string, Text>> = {
  unfinished:
    "An answer is still being written, or waits for people. Stop it or wait for its end, then delete the chat again.",
  unknown_outcome:
    "The outcome of a tool call is unknown. An operator has to resolve it before the chat can be deleted.",
  undo: "An undo is in progress. Wait for its end, then delete the chat again.",
  verification:
    "A tool call is still being verified. Wait for its end, then delete the chat again.",
  unreachable: "A part of the chat did not answer. Try again in a moment.",
};

/** Explains a refused deletion; empty for any other failure. */
function describeBusy({ code, runs }: JsonObject): string {
  if (code !== "conversation_busy" || !Array.isArray(runs)) return "";
  const reasons = new Set(runs.flatMap((run: JsonValue) => (isJsonObject(run) ? run["why"] : [])));
  const texts = [...reasons].flatMap((why) =>
    typeof why === "string" && Object.hasOwn(BUSY, why) ? (BUSY[why] ?? []) : [],
  );
  const why = texts.map((text) => say(text)).join(" ");
  return why === "" ? "" : say("Nothing was deleted. {why}", { why });
}

function readChat(value: JsonValue): readonly ListedChat[] {
  if (!isJsonObject(value)) return [];
  const { conversationId: id, title, status, updatedAt } = value;
  if (typeof id !== "string" || typeof status !== "string") return [];
  return [
    {
      id,
      status,
      updatedAt: typeof updatedAt === "string" ? updatedAt : "",
      ...(typeof title === "string" && { title }),
    },
  ];
}
