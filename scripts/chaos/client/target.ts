import { endsWaiting, isWhole } from "./run-stream.ts";

/** A deployment under test and the token of one caller. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

/** Result of a request under an idempotency key. */
export type Asked =
  | { readonly kind: "stream"; readonly runId: string; readonly stream: string }
  /** The connection broke off before the end of the stream, or before its start. */
  | { readonly kind: "lost"; readonly runId: string | undefined }
  | { readonly kind: "in_progress"; readonly runId: string }
  | { readonly kind: "refused"; readonly status: number; readonly code: string };

/** One tool call of a run and its ledger record, as `GET /v1/runs/:id` shows them. */
export interface LedgerRow {
  readonly toolCallId: string;
  readonly name: string;
  readonly invocationId?: string;
  readonly state?: string;
  readonly idempotencyKeyHash?: string;
  readonly awaitsOutcomeUntil?: string;
  /** Present while an approval of the call is pending. */
  readonly approvalId?: string;
  readonly outcome?: string;
}

export interface SeenState {
  readonly runId: string;
  readonly status: string;
  readonly error?: { readonly code: string };
  readonly recoveries?: number;
  readonly toolCalls: readonly LedgerRow[];
}

/** Longest silence of a stream before its reader looks at the run's state. Unit: milliseconds. */
const IDLE_MS = 300;
/** Comment lines that only keep a connection open. */
const COMMENTS = /^:.*\n\n/gm;
/**
 * Longest time of a stream. A stream that neither ends nor breaks off is abandoned. Unit:
 * milliseconds.
 */
const STREAM_TIMEOUT_MS = 150_000;
/**
 * Longest wait for the beginning of a stream. A server that is killed or starts may accept a
 * request and never answer it; a client then asks again. Unit: milliseconds.
 */
const BEGINNING_TIMEOUT_MS = 30_000;
/** Longest wait for an answer that is not a stream. Unit: milliseconds. */
export const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Posts a chat request under a key and reads the answer. Calls `onIdle` while the stream is silent.
 */
export async function askUnderKey(
  { url, token }: Target,
  { key, body }: { readonly key: string; readonly body: string },
  onIdle: (runId: string) => Promise<void>,
): Promise<Asked> {
  let answer: Response;
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), BEGINNING_TIMEOUT_MS);
  try {
    answer = await fetch(`${url}/v1/chat`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body,
      signal: AbortSignal.any([silent.signal, AbortSignal.timeout(STREAM_TIMEOUT_MS)]),
    });
  } catch {
    return { kind: "lost", runId: undefined };
  } finally {
    clearTimeout(timer);
  }
  const runId = answer.headers.get("x-run-id");
  if (answer.status === 200 && runId !== null && answer.body) {
    const read = await readWhole(answer.body, () => onIdle(runId));
    if (endsWaiting(read.text)) return { kind: "in_progress", runId };
    return read.isWhole ? { kind: "stream", runId, stream: read.text } : { kind: "lost", runId };
  }
  const text = await answer.text().catch(() => "");
  if (answer.status === 409 && runId !== null) return { kind: "in_progress", runId };
  if (answer.status >= 500) return { kind: "lost", runId: undefined };
  return { kind: "refused", status: answer.status, code: codeOf(text) };
}

/** Reads a stream to its end, or until it breaks off. Contract: never throws. */
export async function readWhole(
  body: ReadableStream<Uint8Array>,
  onIdle: () => Promise<void>,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const watch = (): void => {
    if (!isOver) timer = setTimeout(() => void onIdle().finally(watch), IDLE_MS);
  };
  watch();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
      timer?.refresh();
    }
  } catch {
    // The object or its process crashed.
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
  return { text: text.replaceAll(COMMENTS, ""), isWhole: isWhole(text) };
}

/** Reads a run's state. Undefined while the deployment does not answer. */
export async function readState(
  { url, token }: Target,
  runId: string,
): Promise<SeenState | undefined> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const answer = await fetch(`${url}/v1/runs/${runId}`, { headers, signal });
    if (answer.ok) return await answer.json<SeenState>();
    await answer.arrayBuffer();
  } catch {
    // The deployment is starting again.
  }
  return undefined;
}

export function hasEnded(state: SeenState | undefined): state is SeenState {
  return state !== undefined && state.status !== "running" && state.status !== "waiting";
}

function codeOf(text: string): string {
  try {
    return (JSON.parse(text) as { readonly code: string }).code;
  } catch {
    return "";
  }
}
