import { OpenAIToolDecoder } from "../../src/wire/openai/openai-tool-decoder.ts";
import type { Bench, Figure } from "../measure.ts";
import { median } from "../statistics.ts";

const SIZES_KIB = [64, 256, 1_024, 4_096] as const;
const MIN_FRAGMENT_CHARS = 8;
const FRAGMENT_SPREAD_CHARS = 9;
/** Characters of the body in one read. */
const READ_CHARS = 16 * 1024;
const ENVELOPE = '"object":"chat.completion.chunk","created":1763600000,"model":"bench"';

/** Measures the decoder alone on tool arguments that come in fragments of 8 to 16 characters. */
export async function measureDecoder({ quick }: Bench): Promise<readonly Figure[]> {
  const bodies = SIZES_KIB.map((sizeKib) => ({ sizeKib, reads: cut(makeBody(sizeKib)) }));
  const timesMs = new Map<number, number[]>(SIZES_KIB.map((sizeKib) => [sizeKib, []]));
  const rounds = quick ? 3 : 7;
  for (let round = 0; round <= rounds; round++) {
    for (const { sizeKib, reads } of bodies) {
      const elapsedMs = decode(reads, sizeKib);
      if (round > 0) timesMs.get(sizeKib)?.push(elapsedMs);
    }
  }
  const timeOf = (sizeKib: number): number => median(timesMs.get(sizeKib) ?? []);
  return SIZES_KIB.map((sizeKib, place): Figure => {
    const smaller = SIZES_KIB[place - 1];
    const raw = { interlock: (timeOf(sizeKib) / sizeKib) * 1_000 };
    const name = `decoder, arguments of ${sizeKib} KiB: time per KiB`;
    if (smaller === undefined) return { name, unit: "µs", raw };
    const value = timeOf(sizeKib) / timeOf(smaller);
    // Four times the text may take four times as long, plus some garbage collection.
    return { name, unit: "µs", raw, ratio: { to: `time of ${smaller} KiB`, value, atMost: 5 } };
  });
}

function decode(reads: readonly string[], sizeKib: number): number {
  const limits = { maxArgumentsBytes: 8 * 1024 * 1024 };
  const decoder = new OpenAIToolDecoder({ limits });
  const startMs = performance.now();
  for (const read of reads) decoder.feed(read);
  const last = decoder.end().at(-1);
  const elapsedMs = performance.now() - startMs;
  const call = last?.type === "answer" ? last.answer.toolCalls[0] : undefined;
  if (call?.argumentsText.length !== sizeKib * 1024) throw new Error("the decoder lost arguments");
  return elapsedMs;
}

/** Makes one tool call with arguments of exactly that size. The body ends without `[DONE]`. */
function makeBody(sizeKib: number): string {
  const frames = [frame({ index: 0, id: "call_1", function: { name: "write", arguments: "" } })];
  const open = '{"text":"';
  const args = `${open}${"lorem ipsum ".repeat(sizeKib * 100).slice(0, sizeKib * 1024 - open.length - 2)}"}`;
  for (let at = 0, count = 0; at < args.length; count++) {
    const length = MIN_FRAGMENT_CHARS + (count % FRAGMENT_SPREAD_CHARS);
    frames.push(frame({ index: 0, function: { arguments: args.slice(at, at + length) } }));
    at += length;
  }
  frames.push(`data: {${ENVELOPE},"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n`);
  return frames.join("");
}

function frame(call: object): string {
  const choice = { index: 0, delta: { tool_calls: [call] }, finish_reason: null };
  return `data: {${ENVELOPE},"choices":[${JSON.stringify(choice)}]}\n\n`;
}

function cut(body: string): readonly string[] {
  const reads: string[] = [];
  for (let at = 0; at < body.length; at += READ_CHARS) reads.push(body.slice(at, at + READ_CHARS));
  return reads;
}
