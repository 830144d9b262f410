import { setTimeout as wait } from "node:timers/promises";
import { chat, type Timing } from "../client.ts";
import { CONTENDERS, type ContenderName } from "../contenders/plan.ts";
import {
  compare,
  each,
  emptySamples,
  pairedFigures,
  takeTurns,
  type Bench,
  type Figure,
  type Samples,
} from "../measure.ts";
import { median, quantile } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const WARM_UP_ROUNDS = 10;
/** Time for the last contender to finish its work after the answer. */
const PAUSE_MS = 5;
/** The aim for the end of an answer: so much later than that of the pass-through. */
const END_AIM_MS = 1;

/**
 * Measures the time that Interlock adds to a provider that answers at once: before the first byte,
 * before the first text, and between the last text and the end.
 */
export async function measureFirstByte(bench: Bench): Promise<readonly Figure[]> {
  const { direct, contenders, quick } = bench;
  const { firstByte } = SCENARIOS;
  const timings = new Map<string, Timing[]>();
  const ask = async (name: ContenderName | "direct"): Promise<void> => {
    await wait(PAUSE_MS);
    const target = name === "direct" ? direct : contenders[name];
    const timing = await chat(target, firstByte, firstByte.deltas);
    timings.set(name, [...(timings.get(name) ?? []), timing]);
  };
  await takeTurns(CONTENDERS, WARM_UP_ROUNDS + (quick ? 20 : 150), async (name) => {
    if (name === "interlock") await ask("direct");
    await ask(name);
  });
  const pick = (name: string, field: keyof Timing): number =>
    median((timings.get(name) ?? []).slice(WARM_UP_ROUNDS).map((timing) => timing[field]));
  const figure = (title: string, field: keyof Timing, atMost?: number): Figure => {
    const added = each((name) => pick(name, field) - pick("direct", field));
    const raw = { direct: pick("direct", field), ...added };
    return { name: title, unit: "ms", raw, ratio: compare(added, "passThrough", atMost) };
  };
  const firstDelta = emptySamples();
  const end = emptySamples();
  for (const name of CONTENDERS) {
    const after = (timings.get(name) ?? []).slice(WARM_UP_ROUNDS);
    firstDelta[name].push(...after.map(({ firstDeltaMs }) => firstDeltaMs));
    end[name].push(...after.map(({ lastDeltaMs, fullMs }) => fullMs - lastDeltaMs));
  }
  return [
    ...pairedFigures({ name: "time to the first text", unit: "ms" }, firstDelta, {
      passThrough: 2,
      sketch: undefined,
      honoOpenai: undefined,
      aiSdk: 0.75,
      cloudflareAgent: 0.35,
    }),
    figure("added time to the first byte", "firstByteMs", 1.5),
    figure("added time to the first text", "firstDeltaMs"),
    endFigure(end),
  ];
}

/** Compares the end with the pass-through by difference: that one's is close to zero. */
function endFigure(end: Samples): Figure {
  const beyondMs = end.interlock.map((value, round) => value - (end.passThrough[round] ?? NaN));
  return {
    name: "last byte after the last text",
    unit: "ms",
    raw: each((name) => median(end[name])),
    ratio: {
      to: `pass-through + ${END_AIM_MS} ms`,
      value: median(beyondMs) / END_AIM_MS,
      range: [quantile(beyondMs, 0.1) / END_AIM_MS, quantile(beyondMs, 0.9) / END_AIM_MS],
      atMost: 1,
    },
  };
}
