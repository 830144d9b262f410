import { ANSWER_TIMEOUT_MS, type Target } from "./target.ts";

/** Status 0: no answer came. */
export interface Answer {
  readonly status: number;
  /** The run that the answer is about. */
  readonly runId: string | null;
  /** An empty object when the answer has no JSON. */
  readonly body: unknown;
}

export interface Question {
  /** Default: GET, or POST with a body. */
  readonly method?: string;
  readonly body?: object;
  /** Idempotency key. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one request as the caller of a target. Contract: never throws. */
export async function ask(
  { url, token }: Target,
  path: string,
  { body, key, method = body ? "POST" : "GET", headers }: Question = {},
): Promise<Answer> {
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        ...(body && { "content-type": "application/json" }),
        ...(key !== undefined && { "idempotency-key": key }),
      },
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const read: unknown = await answer.json().catch(() => ({}));
    return { status: answer.status, runId: answer.headers.get("x-run-id"), body: read };
  } catch {
    return { status: 0, runId: null, body: {} };
  }
}
