import { anthropicWire } from "../../src/wire/anthropic/wire.ts";
import { AnswerDecoder } from "../../src/wire/model/answer-decoder.ts";
import type { ModelWire } from "../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../src/wire/openai/wire.ts";
import { responsesWire } from "../../src/wire/responses/wire.ts";
import { ANTHROPIC, CHAT, type PlayedWire, RESPONSES } from "../../test/fakes/provider-wires.ts";
import type { Bench, Figure } from "../measure.ts";
import { median } from "../statistics.ts";

const WIRES: readonly { readonly wire: ModelWire; readonly played: PlayedWire }[] = [
  { wire: openAIWire, played: CHAT },
  { wire: responsesWire, played: RESPONSES },
  { wire: anthropicWire, played: ANTHROPIC },
];
const SIZES_KIB = [64, 256, 1_024, 4_096] as const;
const MIN_FRAGMENT_CHARS = 8;
const FRAGMENT_SPREAD_CHARS = 9;
/** Characters of the body in one read. */
const READ_CHARS = 16 * 1024;
/** The limits of production would stop the largest answers. */
const LIMITS = { maxArgumentsBytes: 8 * 1024 * 1024, maxFrameChars: 16 * 1024 * 1024 };

/**
 * Measures the decoder of each wire alone, on tool arguments that come in fragments of 8 to 16
 * characters.
 */
export function measureDecoder({ quick }: Bench): Promise<readonly Figure[]> {
  const rounds = quick ? 3 : 7;
  return Promise.resolve(WIRES.flatMap((measured) => measureWire(measured, rounds)));
}

function measureWire({ wire, played }: (typeof WIRES)[number], rounds: number): readonly Figure[] {
  const bodies = SIZES_KIB.map((sizeKib) => ({ sizeKib, reads: cut(makeBody(played, sizeKib)) }));
  const timesMs = new Map<number, number[]>(SIZES_KIB.map((sizeKib) => [sizeKib, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { sizeKib, reads } of bodies) {
      const elapsedMs = decode(wire, reads, sizeKib);
      if (round > 0) timesMs.get(sizeKib)?.push(elapsedMs);
    }
  }
  const timeOf = (sizeKib: number): number => median(timesMs.get(sizeKib) ?? []);
  return SIZES_KIB.map((sizeKib, place): Figure => {
    const smaller = SIZES_KIB[place - 1];
    const raw = { interlock: (timeOf(sizeKib) / sizeKib) * 1_000 };
    const name = `decoder of ${wire.id}, arguments of ${sizeKib} KiB: time per KiB`;
    if (smaller === undefined) return { name, unit: "µs", raw };
    const value = timeOf(sizeKib) / timeOf(smaller);
    // Four times the text may take four times as long, plus some garbage collection.
    return { name, unit: "µs", raw, ratio: { to: `time of ${smaller} KiB`, value, atMost: 5 } };
  });
}

function decode(wire: ModelWire, reads: readonly string[], sizeKib: number): number {
  const author = { wire: wire.id, model: "bench" };
  const decoder = new AnswerDecoder(wire.createDecoder(), { limits: LIMITS, author });
  const startMs = performance.now();
  let last = reads.flatMap((read) => decoder.feed(read)).at(-1);
  last = decoder.end().at(-1) ?? last;
  const elapsedMs = performance.now() - startMs;
  const call = last?.type === "answer" ? last.answer.toolCalls[0] : undefined;
  if (call?.argumentsText.length !== sizeKib * 1024) throw new Error("the decoder lost arguments");
  return elapsedMs;
}

/** Makes one tool call with arguments of exactly that size. */
function makeBody(played: PlayedWire, sizeKib: number): string {
  const open = '{"text":"';
  const text = `${open}${"lorem ipsum ".repeat(sizeKib * 100).slice(0, sizeKib * 1024 - open.length - 2)}"}`;
  const args: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = MIN_FRAGMENT_CHARS + (args.length % FRAGMENT_SPREAD_CHARS);
    args.push(text.slice(at, at + length));
    at += length;
  }
  return played.frames({ calls: [{ id: "call_1", name: "write", args }] }).join("");
}

function cut(body: string): readonly string[] {
  const reads: string[] = [];
  for (let at = 0; at < body.length; at += READ_CHARS) reads.push(body.slice(at, at + READ_CHARS));
  return reads;
}
