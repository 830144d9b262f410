import { parseEventId } from "../../../src/protocol/run/event-id.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import {
  readChunks,
  type StreamedEvent,
} from "../../../src/wire/assistant-transport/read-chunks.ts";

/** A tool call in a stream. */
export interface StreamedCall {
  readonly toolCallId: string;
  /** Taxonomy class of each result, in order. */
  readonly outcomes: string[];
  /** Code of the first error of each failed result. */
  readonly codes: string[];
}

/** Content of the whole stream of a run. */
export interface StreamedRun {
  /** Ids in order of arrival, `<epoch>-<seq>`. */
  readonly ids: readonly string[];
  readonly calls: readonly StreamedCall[];
  /** The text without its withdrawn parts. */
  readonly text: string;
  /** Text parts that are neither closed nor withdrawn. */
  readonly openTexts: readonly number[];
  /** Number of `done` events. */
  readonly doneCount: number;
}

/** Parses the received text of a stream. Contract: never throws. */
export async function parseRunStream(text: string): Promise<StreamedRun> {
  const events: StreamedEvent[] = [];
  const { body } = new Response(text);
  if (body) for await (const { items } of readChunks(body)) events.push(...items);
  const parts = new Map<number, Part>();
  for (const chunk of events.flatMap(({ chunks }) => chunks)) {
    if (chunk["type"] === "data") {
      const data = readData(chunk);
      if (data["type"] === "withdrawn") withdraw(parts, data["parts"] as readonly number[]);
    } else applyToPart(parts, chunk);
  }
  const standing = [...parts.values()].filter(({ isWithdrawn }) => !isWithdrawn);
  return {
    ids: events.map(({ id }) => id),
    calls: standing.flatMap(({ call }) => call ?? []),
    text: standing.map(({ text }) => text).join(""),
    openTexts: [...parts].flatMap(([number, part]) =>
      part.call || part.isClosed || part.isWithdrawn ? [] : [number],
    ),
    doneCount: text.match(/^data: \[DONE\]$/gm)?.length ?? 0,
  };
}

/** Says so when no incarnation of a run ended before the run. */
export async function findUninterrupted(stream: string): Promise<readonly string[]> {
  const { ids } = await parseRunStream(stream);
  const epochs = ids.map((id) => parseEventId(id)?.epoch ?? 0);
  return Math.max(...epochs) === 0 ? ["the kill did not interrupt the run"] : [];
}

/** Returns whether a stream is complete. */
export function isWhole(text: string): boolean {
  return /^data: \[DONE\]\nid: .+\n\n$/m.test(text.slice(-200));
}

/** Returns whether a stream ended because its run waits for people. */
export function endsWaiting(text: string): boolean {
  return /^retry: \d+\ndata: \[DONE\]\n\n$/m.test(text.slice(-200));
}

/**
 * Returns whether each id is greater than the one before it. A later epoch may begin where an
 * earlier one broke off.
 */
export function isAscending(ids: readonly string[]): boolean {
  return ids.every((id, index) => {
    const here = parseEventId(id);
    const before = parseEventId(ids[index - 1] ?? "0-0");
    if (!here || !before) return false;
    return here.epoch > before.epoch || (here.epoch === before.epoch && here.seq > before.seq);
  });
}

/** What is read of a result. */
interface StreamedResult {
  readonly status: { readonly taxonomy_class: string };
  readonly result_payload: { readonly errors: readonly { readonly code: string }[] };
}

interface Part {
  text: string;
  readonly call: StreamedCall | undefined;
  isClosed: boolean;
  isWithdrawn: boolean;
}

function readData(chunk: JsonObject): JsonObject {
  const [data] = chunk["data"] as readonly JsonObject[];
  return data ?? {};
}

function withdraw(parts: ReadonlyMap<number, Part>, numbers: readonly number[]): void {
  for (const number of numbers) {
    const part = parts.get(number);
    if (part) part.isWithdrawn = true;
  }
}

function applyToPart(parts: Map<number, Part>, chunk: JsonObject): void {
  const [number] = chunk["path"] as readonly number[];
  if (number === undefined) return;
  if (chunk["type"] === "part-start") {
    const start = chunk["part"] as JsonObject;
    const toolCallId = start["toolCallId"] as string | undefined;
    const call = toolCallId === undefined ? undefined : { toolCallId, outcomes: [], codes: [] };
    parts.set(number, { text: "", call, isClosed: false, isWithdrawn: false });
    return;
  }
  const part = parts.get(number);
  if (!part) return;
  if (chunk["type"] === "text-delta" && !part.call) part.text += chunk["textDelta"] as string;
  if (chunk["type"] === "part-finish") part.isClosed = true;
  if (chunk["type"] !== "result") return;
  const { status, result_payload: payload } = chunk["result"] as unknown as StreamedResult;
  part.call?.outcomes.push(status.taxonomy_class);
  part.call?.codes.push(...payload.errors.slice(0, 1).map(({ code }) => code));
}
