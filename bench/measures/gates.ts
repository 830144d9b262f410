import { takeTurns, type Bench, type Figure } from "../measure.ts";
import { median, quantile } from "../statistics.ts";
import { startTextTurns, startToolTurns } from "../tool-calls/ai-sdk-calls.ts";
import { startRun, type MakeCall } from "../tool-calls/interlock-calls.ts";
import { makeArguments } from "../tool-calls/order-tool.ts";

/** Calls of one run, or of one model, before the next kind. */
const CALLS_PER_TURN = 50;
const WARM_UP_ROUNDS = 10;
const AIM_P50_US = 300;
const SIZES_KIB = [1, 4, 16, 64, 256] as const;
/** Most calls of one size in a round. Smaller arguments get more calls. */
const MAX_CALLS_PER_SIZE = 16;
const US_PER_MS = 1_000;

const KINDS = {
  read: () => startRun("orders__check"),
  mutation: () => startRun("orders__place"),
  toolTurn: startToolTurns,
  textTurn: startTextTurns,
  digests: () => digestTwice,
} as const satisfies Readonly<Record<string, () => MakeCall>>;
type Kind = keyof typeof KINDS;
const KIND_NAMES = Object.keys(KINDS) as readonly Kind[];

/**
 * Measures one call of a tool that does nothing, from its argument text to its observation.
 *
 * Interlock: one `exec` of the tool runner, through every gate, with its record, its events and its
 * idempotency key; capabilities are in memory, SHA-256 and timers are the platform's. Its run is
 * new for every 50 calls and ready before the first of them. The key takes two SHA-256, which Node
 * sends to a thread pool and workerd computes in place; what two of them take alone is measured
 * beside it.
 *
 * AI SDK: one step of `generateText` whose model asks for the tool, less one whose model answers
 * with text while the same tool is offered. What is left is parsing, validation by the same valibot
 * schema, execution and the messages made of both. Quantiles are subtracted, which is exact for
 * neither: read the p99 as a hint.
 */
export async function measureGates({ quick }: Bench): Promise<readonly Figure[]> {
  const timesUs = await timeKinds(quick ? 10 : 100);
  const linearity = await timeSizes(quick ? 10 : 40);
  return [
    ...(["read", "mutation"] as const).flatMap((kind) => compareWithAiSdk(kind, timesUs)),
    {
      name: "gates: two SHA-256 of 1 KiB alone, p50",
      unit: "µs",
      raw: { interlock: median(timesOf(timesUs, "digests")) },
    },
    ...figuresOfSizes(linearity),
  ];
}

type Times<Key extends string | number> = ReadonlyMap<Key, number[]>;

function emptyTimes<Key extends string | number>(keys: readonly Key[]): Times<Key> {
  return new Map(keys.map((key) => [key, []]));
}

function timesOf<Key extends string | number>(times: Times<Key>, key: Key): readonly number[] {
  return times.get(key) ?? [];
}

async function timeKinds(rounds: number): Promise<Times<Kind>> {
  const timesUs = emptyTimes(KIND_NAMES);
  const texts = makeTexts(1, CALLS_PER_TURN);
  await takeTurns(KIND_NAMES, WARM_UP_ROUNDS + rounds, async (kind, round) => {
    const elapsedUs = await timeCalls(KINDS[kind](), texts);
    if (round >= WARM_UP_ROUNDS) timesUs.get(kind)?.push(...elapsedUs);
  });
  return timesUs;
}

async function timeSizes(rounds: number): Promise<Times<number>> {
  const timesUs = emptyTimes<number>(SIZES_KIB);
  const bodies = SIZES_KIB.map((sizeKib) => {
    const calls = Math.max(1, Math.floor(MAX_CALLS_PER_SIZE / sizeKib));
    return { sizeKib, texts: makeTexts(sizeKib, calls) };
  });
  await takeTurns(bodies, WARM_UP_ROUNDS + rounds, async ({ sizeKib, texts }, round) => {
    const elapsedUs = await timeCalls(KINDS.mutation(), texts);
    if (round >= WARM_UP_ROUNDS) timesUs.get(sizeKib)?.push(...elapsedUs);
  });
  return timesUs;
}

/** Makes different arguments, because a gate ends a loop of identical calls. */
function makeTexts(sizeKib: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, serial) => makeArguments(sizeKib, serial));
}

async function digestTwice(text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  await crypto.subtle.digest("SHA-256", bytes);
  await crypto.subtle.digest("SHA-256", bytes);
}

async function timeCalls(call: MakeCall, texts: readonly string[]): Promise<readonly number[]> {
  const elapsedUs: number[] = [];
  for (const text of texts) {
    const startMs = performance.now();
    await call(text);
    elapsedUs.push((performance.now() - startMs) * US_PER_MS);
  }
  return elapsedUs;
}

function compareWithAiSdk(kind: "read" | "mutation", timesUs: Times<Kind>): readonly Figure[] {
  const figure = (q: number): Pick<Figure, "unit" | "raw"> => {
    const at = (name: Kind): number => quantile(timesOf(timesUs, name), q);
    return { unit: "µs", raw: { interlock: at(kind), aiSdk: at("toolTurn") - at("textTurn") } };
  };
  const p50 = figure(0.5);
  const { interlock = Number.NaN, aiSdk = Number.NaN } = p50.raw;
  const name = `gates, ${kind} of 1 KiB`;
  return [
    { name: `${name}: p50`, ...p50, ratio: { to: "AI SDK", value: interlock / aiSdk } },
    {
      name: `${name}: p50 against the aim`,
      unit: "µs",
      raw: { interlock },
      ratio: { to: `${AIM_P50_US} µs`, value: interlock / AIM_P50_US, atMost: 1 },
    },
    { name: `${name}: p99`, ...figure(0.99) },
  ];
}

function figuresOfSizes(timesUs: Times<number>): readonly Figure[] {
  const timeOf = (sizeKib: number): number => median(timesOf(timesUs, sizeKib));
  return SIZES_KIB.map((sizeKib, place): Figure => {
    const smaller = SIZES_KIB[place - 1];
    const name = `gates, arguments of ${sizeKib} KiB: time per KiB`;
    const raw = { interlock: timeOf(sizeKib) / sizeKib };
    if (smaller === undefined) return { name, unit: "µs", raw };
    const value = timeOf(sizeKib) / timeOf(smaller);
    // Four times the text may take four times as long, plus some garbage collection.
    return { name, unit: "µs", raw, ratio: { to: `time of ${smaller} KiB`, value, atMost: 5 } };
  });
}
