import { say } from "../../texts/say.ts";
import { type ApiOptions, sendAuthorised } from "../../../client/send-authorised.ts";
import { postJson, readProblemText, UNREACHABLE } from "../../api-request.ts";
import { isJsonObject, type JsonObject } from "../../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../../protocol/outcome/result.ts";

import { type AttachedFile, contentOf } from "../files/attached-file.ts";

/** Why a request failed. `message` is for the reader. */
export interface ApiFailure {
  readonly code: "token_needed" | "unreachable" | "refused" | "gone" | "moved";
  readonly message: string;
  /** True when the same request may succeed a little later. */
  readonly isTransient: boolean;
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
 * An open event stream. Without a body, `runId` names the run to follow. Without both, the run has
 * no more events.
 */
export interface OpenStream {
  readonly body?: ReadableStream<Uint8Array>;
  readonly runId?: string;
  readonly conversationId?: string;
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
  cancel(runId: string): Promise<Result<undefined, ApiFailure>>;
  /** Sends a steering message. The server accepts one message per key, and the stream shows it. */
  steer(
    runId: string,
    steering: { readonly message: string; readonly key: string },
  ): Promise<Result<undefined, ApiFailure>>;
}

/** What new questions name. Without a field, the server chooses. */
export interface RunChoice {
  readonly assistantId?: string;
  readonly model?: string;
  readonly toolIds?: readonly string[];
  readonly connectionIds?: readonly string[];
  readonly workspaceId?: string;
}

/** Returns which conversations a chat lists: those with its assistant. */
export function listFilter({ assistantId }: RunChoice): Readonly<Record<string, string>> {
  return assistantId === undefined ? {} : { assistant: assistantId };
}

/** Creates the chat's client of the HTTP API. */
export function createChatApi(options: ApiOptions, choice: RunChoice = {}): ChatApi {
  const runUrl = (runId: string, what: string) => `v1/runs/${encodeURIComponent(runId)}/${what}`;
  const ask = (path: string, init: RequestInit) => request(options, path, init);
  return {
    async newest(signal) {
      const query = new URLSearchParams({ limit: "1", ...listFilter(choice) });
      const listed = await ask(`v1/conversations?${query}`, { signal });
      if (!listed.ok) return listed;
      const body: unknown = await listed.value.json().catch(() => undefined);
      const [newest] =
        isJsonObject(body) && Array.isArray(body["conversations"]) ? body["conversations"] : [];
      const { conversationId } = isJsonObject(newest) ? newest : {};
      return ok(typeof conversationId === "string" ? conversationId : undefined);
    },
    async start(question, { request: { key, files, ...place }, signal }) {
      const messages = [{ role: "user", content: contentOf(question, files) }];
      const messageId = place.conversationId && key;
      const body = { messages, messageId, ...place, ...choice };
      const headers = { "idempotency-key": key, accept: "text/event-stream" };
      const started = await ask("v1/chat", { ...postJson(body, headers), signal });
      const inProgress = !started.ok && started.failure.runInProgress;
      return inProgress ? ok({ runId: inProgress }) : openStream(started);
    },
    async events(runId, { lastEventId, signal }) {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
      return openStream(await ask(runUrl(runId, "events"), { headers, signal }));
    },
    async cancel(runId) {
      const cancelled = await ask(runUrl(runId, "cancel"), { method: "POST" });
      return cancelled.ok ? ok(undefined) : cancelled;
    },
    async steer(runId, { message, key }) {
      const init = postJson({ content: message }, { "idempotency-key": key });
      const sent = await ask(runUrl(runId, "messages"), init);
      return sent.ok ? ok(undefined) : sent;
    },
  };
}

interface Refusal extends ApiFailure {
  /** The run that an earlier request under the same key started. */
  readonly runInProgress?: string;
}

async function request(
  options: ApiOptions,
  path: string,
  init: RequestInit,
): Promise<Result<Response, Refusal>> {
  try {
    const response = await sendAuthorised(options, path, init);
    return response.ok ? ok(response) : fail(await readRefusal(response));
  } catch {
    return fail({ code: "unreachable", message: say(UNREACHABLE), isTransient: true });
  }
}

const NO_STREAM = "The server sent an answer that this page cannot read. Try again later.";

function openStream(answer: Result<Response, ApiFailure>): Result<OpenStream, ApiFailure> {
  if (!answer.ok) return answer;
  const { body, headers, status } = answer.value;
  if (status === 204) return ok({});
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream")) {
    body?.cancel().catch(() => undefined);
    return fail({ code: "refused", message: say(NO_STREAM), isTransient: false });
  }
  const runId = headers.get("x-run-id");
  const conversationId = headers.get("x-conversation-id");
  return ok({ body, ...(runId && { runId }), ...(conversationId && { conversationId }) });
}

async function readRefusal(response: Response): Promise<Refusal> {
  const body: unknown = await response.json().catch(() => undefined);
  const problem = isJsonObject(body) ? body : {};
  const isInProgress = problem["code"] === "request_in_progress";
  const runId = isInProgress ? response.headers.get("x-run-id") : null;
  return {
    code: codeOf(response.status, problem["code"]),
    message: readProblemText(problem, response.status),
    isTransient: response.status >= 500 || response.status === 429,
    ...(runId && { runInProgress: runId }),
  };
}

function codeOf(status: number, code: unknown): ApiFailure["code"] {
  if (status === 401) return "token_needed";
  if (code === "conversation_moved" || code === "run_still_running") return "moved";
  return status === 410 ? "gone" : "refused";
}
