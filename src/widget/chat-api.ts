import { isJsonObject } from "../protocol/json.ts";
import { fail, ok, type Result } from "../protocol/result.ts";

/** Why a request brought nothing. `message` is for the reader. */
export interface ApiFailure {
  readonly code: "token_needed" | "unreachable" | "refused";
  readonly message: string;
  /** True when the same request may succeed a little later. */
  readonly isPassing: boolean;
}

/** An open event stream, or undefined when there is nothing more to come. */
export interface OpenStream {
  readonly body?: ReadableStream<Uint8Array>;
  readonly runId?: string;
}

/**
 * The part of the public API that a chat needs.
 * Contract: no method throws; an abort looks like `unreachable`, the caller knows its signal.
 */
export interface ChatApi {
  start(
    question: string,
    options: { readonly previousRunId: string | undefined; readonly signal: AbortSignal },
  ): Promise<Result<OpenStream, ApiFailure>>;
  /** Opens the events after `lastEventId`, or all of them. */
  events(
    runId: string,
    options: { readonly lastEventId: string | undefined; readonly signal: AbortSignal },
  ): Promise<Result<OpenStream, ApiFailure>>;
  cancel(runId: string): Promise<Result<undefined, ApiFailure>>;
  /** Says something to a run while it goes; its stream tells it back. */
  steer(runId: string, message: string): Promise<Result<undefined, ApiFailure>>;
}

export interface ChatApiOptions {
  readonly fetch: typeof fetch;
  /** Absolute address that `v1/…` is relative to; ends in a slash. */
  readonly baseUrl: string;
  readonly token: () => Promise<string | undefined>;
}

/** Speaks to the API over HTTP. */
export function createChatApi(options: ChatApiOptions): ChatApi {
  const runUrl = (runId: string, what: string) => `v1/runs/${encodeURIComponent(runId)}/${what}`;
  const ask = (path: string, init: RequestInit) => request(options, path, init);
  return {
    async start(question, { previousRunId, signal }) {
      const messages = [{ role: "user", content: question }];
      return openStream(
        await ask("v1/chat", {
          method: "POST",
          headers: { "content-type": "application/json", accept: "text/event-stream" },
          body: JSON.stringify({ messages, previousRunId }),
          signal,
        }),
      );
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
    async steer(runId, message) {
      const told = await ask(runUrl(runId, "messages"), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ content: message }),
      });
      return told.ok ? ok(undefined) : told;
    },
  };
}

async function request(
  options: ChatApiOptions,
  path: string,
  init: RequestInit,
): Promise<Result<Response, ApiFailure>> {
  try {
    const headers = new Headers(init.headers);
    const token = await options.token();
    if (token) headers.set("authorization", `Bearer ${token}`);
    const response = await options.fetch(new URL(path, options.baseUrl), {
      ...init,
      headers,
      cache: "no-store",
    });
    return response.ok ? ok(response) : fail(await readProblem(response));
  } catch {
    return fail({
      code: "unreachable",
      message: "The server could not be reached.",
      isPassing: true,
    });
  }
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
async function readProblem(response: Response): Promise<ApiFailure> {
  const problem: unknown = await response.json().catch(() => undefined);
  const { detail, title } = isJsonObject(problem) ? problem : {};
  const message = [detail, title, `The server answered with status ${response.status}.`]
    .filter((text) => typeof text === "string")
    .find((text) => text !== "");
  return {
    code: response.status === 401 ? "token_needed" : "refused",
    message: (message ?? "").slice(0, 500),
    isPassing: response.status >= 500 || response.status === 429,
  };
}
