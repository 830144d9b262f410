import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import { TOKEN } from "./contenders/plan.ts";
import { readSocketChat } from "./socket-chat.ts";
import { MARK } from "./upstream/answers.ts";
import { modelOf, type Scenario } from "./upstream/scenario.ts";

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
const MARK_BYTE = MARK.charCodeAt(0);

/** Where to send a chat. */
export interface Target {
  readonly port: number;
  /** Differs only for the upstream, when it is asked without anyone between. */
  readonly path?: string;
  /** The chat goes over a socket of Cloudflare's agent. */
  readonly isAgent?: boolean;
  /** What the request names beside the model and its question. */
  readonly named?: Readonly<Record<string, unknown>>;
}

/** Arrival times of one answer, counted from its request. */
export interface Timing {
  readonly firstByteMs: number;
  /** The first byte of the first delta's text. */
  readonly firstDeltaMs: number;
  /** The last byte that brought text of a delta. */
  readonly lastDeltaMs: number;
  readonly fullMs: number;
}

/**
 * Requests an answer and reads it to its end.
 * Fails: throws unless exactly `deltas` deltas of text arrived.
 */
export async function chat(target: Target, scenario: Scenario, deltas: number): Promise<Timing> {
  const startMs = performance.now();
  let firstByteMs: number | undefined;
  let firstDeltaMs: number | undefined;
  let lastDeltaMs: number | undefined;
  let marks = 0;
  await readChat(target, scenario, (chunk) => {
    const nowMs = performance.now() - startMs;
    firstByteMs ??= nowMs;
    const newMarks = countMarks(chunk);
    if (newMarks === 0) return;
    marks += newMarks;
    firstDeltaMs ??= nowMs;
    lastDeltaMs = nowMs;
  });
  if (marks !== deltas || !firstByteMs || !firstDeltaMs || !lastDeltaMs) {
    throw new Error(`port ${target.port} sent ${marks} deltas of ${deltas}`);
  }
  return { firstByteMs, firstDeltaMs, lastDeltaMs, fullMs: performance.now() - startMs };
}

/** Requests an answer and passes on each chunk, until its end. */
export async function readChat(
  target: Target,
  scenario: Scenario,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  if (target.isAgent) return readSocketChat({ port: target.port }, scenario, onChunk);
  const { response } = await openChat(target, scenario);
  response.on("data", onChunk);
  await new Promise<void>((resolve, reject) => {
    response.once("end", resolve);
    response.once("error", (cause) =>
      reject(new Error(`port ${target.port} broke off`, { cause })),
    );
  });
}

/** An answer whose headers have arrived. */
export interface OpenChat {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

/** Requests an answer. Fails: throws for any status but 200. */
export function openChat(target: Target, scenario: Scenario): Promise<OpenChat> {
  const body = JSON.stringify({
    model: modelOf(scenario),
    messages: [{ role: "user", content: "What time is it?" }],
    ...target.named,
  });
  const { promise, resolve, reject } = Promise.withResolvers<OpenChat>();
  const { port, path = "/v1/chat" } = target;
  const headers = { "content-type": "application/json", authorization: `Bearer ${TOKEN}` };
  const asked = request({ host: "127.0.0.1", port, path, method: "POST", agent, headers });
  asked.once("error", (cause: NodeJS.ErrnoException) => {
    // The server may close a kept connection at the moment at which it is used again.
    if (asked.reusedSocket && cause.code === "ECONNRESET") resolve(openChat(target, scenario));
    else reject(new Error(`port ${port} did not answer`, { cause }));
  });
  asked.once("response", (response) => {
    if (response.statusCode === 200) resolve({ request: asked, response });
    else reject(new Error(`port ${port} answered with ${response.statusCode}`));
  });
  asked.end(body);
  return promise;
}

function countMarks(chunk: Buffer): number {
  let marks = 0;
  for (let at = chunk.indexOf(MARK_BYTE); at !== -1; at = chunk.indexOf(MARK_BYTE, at + 1)) marks++;
  return marks;
}
