import { expect } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { chunksOf, send, type Caller, type WireChunk } from "./worker.ts";
import { rowsOf } from "./run-object.ts";

/** What one post of a conversation names. */
export interface Said {
  readonly steps?: readonly ScriptedStep[];
  readonly content?: unknown;
  readonly caller?: Caller;
  readonly key?: string;
  readonly [field: string]: unknown;
}

/** Posts a turn; the model answers with the steps, or repeats the request of a free text. */
export function say({
  steps = [{ text: ["ok"] }],
  content = script(...steps),
  caller = "acme",
  key,
  ...named
}: Said = {}): Promise<Response> {
  return send("/v1/chat", {
    caller,
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { "idempotency-key": key }) },
    body: JSON.stringify({ messages: [{ role: "user", content }], ...named }),
  });
}

/** Posts a turn and lets it end; answers its ids. */
export async function finish(
  said: Said = {},
): Promise<{ readonly runId: string; readonly conversationId: string; readonly text: string }> {
  const response = await say(said);
  if (response.status !== 200) throw new Error(await response.text());
  const [runId = "", conversationId = ""] = ["x-run-id", "x-conversation-id"].map(
    (name) => response.headers.get(name) ?? "",
  );
  return { runId, conversationId, text: textOf(await chunksOf(response)) };
}

/** Joins the text of an answer. */
export function textOf(chunks: readonly WireChunk[]): string {
  return chunks.map(({ textDelta }) => (typeof textDelta === "string" ? textDelta : "")).join("");
}

/** Waits until a conversation has the pages of so many turns. */
export async function untilKept(conversationId: string, turns: number): Promise<void> {
  const count = "SELECT 1 FROM turns WHERE ended_ms IS NOT NULL";
  await expect.poll(async () => (await rowsOf(conversationId, count)).length).toBe(turns);
}

/** Reads a stream until it has said a word. */
export async function untilSaid({ body }: Response, word: string): Promise<void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; !text.includes(word);) text += (await reader?.read())?.value ?? "";
  void reader?.cancel().catch(() => {});
}
