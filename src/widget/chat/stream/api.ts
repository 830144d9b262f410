import { createCall, type BodyOf, type QueryOf } from "../../../client/call.ts";
import type { Failure } from "../../../client/failure.ts";
import { openStream, type OpenStream } from "../../../client/open-stream.ts";
import { type ClientOptions, toPorts } from "../../../client/ports.ts";
import { isJsonObject, type JsonObject } from "../../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../../protocol/outcome/result.ts";
import { describeFailure } from "../../describe-failure.ts";
import { type AttachedFile, contentOf } from "../files/attached-file.ts";

/** Why a request failed. `message` is for the reader. */
export interface ApiFailure {
  readonly code: "token_needed" | "unreachable" | "refused" | "gone" | "moved";
  readonly message: string;
  /** True when the same request may succeed a little later. */
  readonly isTransient: boolean;
  /** When to try again, as the server says. */
  readonly retryAfterSeconds?: number | undefined;
}

/** A request that is safe to repeat: one key starts one run, as long as the body stays the same. */
export interface KeyedRequest {
  /** In a conversation it is the id of the message too, so the page finds its turn again. */
  readonly key: string;
  readonly conversationId?: string;
  /** The newest turn that the page knows. Another device may have added one: `moved`. */
  readonly previousRunId?: string;
  /** The turn beside whose followers the question stands; `root`: beside the first one. */
  readonly parentId?: string;
  readonly files?: readonly AttachedFile[];
  /** What the page knew at the first send. Another context under the same key is refused. */
  readonly context?: JsonObject;
}

/**
 * The part of the public API that a chat needs.
 * Contract: no method throws. An abort looks like `unreachable`; the caller knows its own signal.
 */
export interface ChatApi {
  /** Finds the reader's newest conversation; undefined without any. */
  newest(signal: AbortSignal): Promise<Result<string | undefined, ApiFailure>>;
  /**
   * Starts a run. Returns only the run id when an earlier request under the key started the run.
   */
  start(
    question: string,
    options: { readonly request: KeyedRequest; readonly signal: AbortSignal },
  ): Promise<Result<OpenStream, ApiFailure>>;
  /** Opens the events after `lastEventId`, or all of them. */
  events(
    runId: string,
    options: { readonly lastEventId: string | undefined; readonly signal: AbortSignal },
  ): Promise<Result<OpenStream, ApiFailure>>;
  cancel(runId: string): Promise<Result<unknown, ApiFailure>>;
  /** Sends a steering message. The server accepts one message per key, and the stream shows it. */
  steer(
    runId: string,
    steering: { readonly message: string; readonly key: string; readonly signal: AbortSignal },
  ): Promise<Result<unknown, ApiFailure>>;
}

/** What new questions name. Without a field, the server chooses. */
export interface RunChoice {
  readonly assistantId?: string;
  readonly model?: string;
  readonly toolIds?: readonly string[];
  readonly connectionIds?: readonly string[];
  readonly workspaceId?: string;
}

/** Which conversations a chat lists. */
export type ListFilter = Pick<QueryOf<"GET /v1/conversations">, "assistant">;

/** Returns which conversations a chat lists: those with its assistant. */
export function listFilter({ assistantId }: RunChoice): ListFilter {
  return assistantId === undefined ? {} : { assistant: assistantId };
}

/** The wire that every deployment of the chat offers first. */
const FORMAT = { mediaType: "text/event-stream" };

/** Creates what a chat needs on the typed client. */
export function createChatApi(options: ClientOptions, choice: RunChoice = {}): ChatApi {
  const ports = toPorts(options);
  const call = createCall(ports);
  return {
    async newest(signal) {
      const query = { limit: 1, ...listFilter(choice) };
      const listed = await call("GET /v1/conversations", { query, signal });
      if (!listed.ok) return fail(toApiFailure(listed.failure));
      const body: unknown = listed.value;
      const [newest] =
        isJsonObject(body) && Array.isArray(body["conversations"]) ? body["conversations"] : [];
      const { conversationId } = isJsonObject(newest) ? newest : {};
      return ok(typeof conversationId === "string" ? conversationId : undefined);
    },
    async start(question, { request: { key, files, ...place }, signal }) {
      const messages = [{ role: "user" as const, content: contentOf(question, files) }];
      const named = { ...(place.conversationId && { messageId: key }), ...place, ...choice };
      const begin = { body: { messages, ...named } as BodyOf<"POST /v1/chat">, key };
      return inWords(await openStream(ports, FORMAT, { begin, signal }));
    },
    async events(runId, { lastEventId: after, signal }) {
      return inWords(await openStream(ports, FORMAT, { begin: { runId, after }, signal }));
    },
    cancel: async (id) => inWords(await call("POST /v1/runs/{id}/cancel", { path: { id } })),
    async steer(id, { message, key, signal }) {
      const steering = { path: { id }, body: { content: message }, key, signal };
      return inWords(await call("POST /v1/runs/{id}/messages", steering));
    },
  };
}

function inWords<T>(answer: Result<T, Failure>): Result<T, ApiFailure> {
  return answer.ok ? answer : fail(toApiFailure(answer.failure));
}

function toApiFailure(failure: Failure): ApiFailure {
  const { isTransient, retryAfterSeconds } = failure;
  return {
    code: codeOf(failure),
    message: describeFailure(failure),
    isTransient,
    retryAfterSeconds,
  };
}

function codeOf({ code, status }: Failure): ApiFailure["code"] {
  if (status === 401) return "token_needed";
  if (code === "unreachable") return code;
  if (code === "conversation_moved" || code === "run_still_running") return "moved";
  return status === 410 ? "gone" : "refused";
}
