import { isJsonObject } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";

/** Why a request brought nothing. `message` is for the reader. */
export interface ApiFailure {
  readonly code: "token_needed" | "unreachable" | "refused" | "gone";
  readonly message: string;
  /** True when the same request may succeed a little later. */
  readonly isPassing: boolean;
}

/** A request that may be repeated: under one key it is carried out once, and only with the same words. */
export interface KeyedRequest {
  readonly key: string;
  readonly previousRunId?: string;
}

/**
 * An open event stream. Without a body there is nothing more to come, or, with a run id alone, there is a
 * run to be followed.
 */
export interface OpenStream {
  readonly body?: ReadableStream<Uint8Array>;
  readonly runId?: string;
}

/**
 * The part of the public API that a chat needs.
 * Contract: no method throws; an abort looks like `unreachable`, the caller knows its signal.
 */
export interface ChatApi {
  /** Asks a question; answers the run alone when an earlier request under the key started it. */
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
  /** Says something to a run while it goes, once for a key; its stream tells it back. */
  steer(
    runId: string,
    said: { readonly message: string; readonly key: string },
  ): Promise<Result<undefined, ApiFailure>>;
}

export interface ChatApiOptions {
  readonly fetch: typeof fetch;
  /** Absolute address that `v1/…` is relative to; ends in a slash. */
  readonly baseUrl: string;
  /** Asked before each request, and once more when the server refused what it gave. */
  readonly token: () => Promise<string | undefined>;
}

/** Speaks to the API over HTTP. */
export function createChatApi(options: ChatApiOptions): ChatApi {
  const runUrl = (runId: string, what: string) => `v1/runs/${encodeURIComponent(runId)}/${what}`;
  const ask = (path: string, init: RequestInit) => request(options, path, init);
  return {
    async start(question, { request: { key, previousRunId }, signal }) {
      const messages = [{ role: "user", content: question }];
      const answer = await ask("v1/chat", {
        method: "POST",
        headers: { ...jsonUnder(key), accept: "text/event-stream" },
        body: JSON.stringify({ messages, previousRunId }),
        signal,
      });
      const inProgress = !answer.ok && answer.failure.runInProgress;
      return inProgress ? ok({ runId: inProgress }) : openStream(answer);
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
      const told = await ask(runUrl(runId, "messages"), {
        method: "POST",
        headers: jsonUnder(key),
        body: JSON.stringify({ content: message }),
      });
      return told.ok ? ok(undefined) : told;
    },
  };
}

function jsonUnder(key: string): Readonly<Record<string, string>> {
  return { "content-type": "application/json", "idempotency-key": key };
}

interface Refusal extends ApiFailure {
  /** The run that an earlier request under the same key has started. */
  readonly runInProgress?: string;
}

async function request(
  options: ChatApiOptions,
  path: string,
  init: RequestInit,
): Promise<Result<Response, Refusal>> {
  try {
    const response = await sendAuthorised(options, path, init);
    return response.ok ? ok(response) : fail(await readProblem(response));
  } catch {
    return fail({
      code: "unreachable",
      message: "The server could not be reached.",
      isPassing: true,
    });
  }
}

/** Sends a request with the page's token, and with the next one if that is refused. Fails: throws as `fetch`. */
export async function sendAuthorised(
  options: ChatApiOptions,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const token = await options.token();
  const response = await send(options, path, { ...init, token });
  if (response.status !== 401) return response;
  // It may have expired on its way; the same one again would be refused again.
  const renewed = await options.token();
  return renewed === token ? response : send(options, path, { ...init, token: renewed });
}

function send(
  { fetch, baseUrl }: ChatApiOptions,
  path: string,
  { token, ...init }: RequestInit & { readonly token: string | undefined },
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token) headers.set("authorization", `Bearer ${token}`);
  return fetch(new URL(path, baseUrl), {
    ...init,
    headers,
    cache: "no-store",
  });
}

function openStream(answer: Result<Response, ApiFailure>): Result<OpenStream, ApiFailure> {
  if (!answer.ok) return answer;
  const { body, headers, status } = answer.value;
  if (status === 204) return ok({});
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream")) {
    body?.cancel().catch(() => undefined);
    return fail({
      code: "refused",
      message: "The server answered with something that is not an event stream.",
      isPassing: false,
    });
  }
  const runId = headers.get("x-run-id");
  return ok({ body, ...(runId && { runId }) });
}

/** Reads `application/problem+json`, and makes do with the status when it is something else. */
async function readProblem(response: Response): Promise<Refusal> {
  const problem: unknown = await response.json().catch(() => undefined);
  const { code, detail, title } = isJsonObject(problem) ? problem : {};
  const runId = code === "request_in_progress" ? response.headers.get("x-run-id") : null;
  const message = [detail, title, `The server answered with status ${response.status}.`]
    .filter((text) => typeof text === "string")
    .find((text) => text !== "");
  return {
    code: codeOf(response.status),
    message: (message ?? "").slice(0, 500),
    isPassing: response.status >= 500 || response.status === 429,
    ...(runId && { runInProgress: runId }),
  };
}

function codeOf(status: number): ApiFailure["code"] {
  if (status === 401) return "token_needed";
  return status === 410 ? "gone" : "refused";
}
