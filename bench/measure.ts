import type { Target } from "./client.ts";
import { CONTENDERS, RELAYS, type ContenderName, type ContenderPlan } from "./contenders/plan.ts";
import type { Contender } from "./contenders/start.ts";
import { median, quantile } from "./statistics.ts";

/** One measured value of each contender, and the aim. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly raw: Readonly<Partial<Record<ContenderName | "direct", number>>>;
  /** How Interlock compares: with another contender, or with itself at another size. */
  readonly ratio?: Ratio;
}

export interface Ratio {
  readonly to: string;
  readonly value: number;
  /** The largest value that meets the aim; absent where there is none. */
  readonly atMost?: number;
  /** The ratios of single rounds: nine of ten are above the first, and nine below the second. */
  readonly range?: readonly [number, number];
}

/** Everything that a measure needs. */
export interface Bench {
  /** The provider, asked without anyone between. */
  readonly direct: Target;
  readonly contenders: Readonly<Record<ContenderName, Contender>>;
  readonly plans: Readonly<Record<ContenderName, ContenderPlan>>;
  /** Fewer rounds; for a look, not for figures. */
  readonly quick: boolean;
}

export type Measure = (bench: Bench) => Promise<readonly Figure[]>;

/** Samples of each contender. */
export type Samples = Readonly<Record<ContenderName, number[]>>;

export function emptySamples(): Samples {
  return each(() => []);
}

/** Computes one value of each contender. */
export function each<Value>(compute: (name: ContenderName) => Value): Record<ContenderName, Value> {
  const computed = CONTENDERS.map((name) => [name, compute(name)] as const);
  return Object.fromEntries(computed) as Record<ContenderName, Value>;
}

/**
 * Visits all names in turn, round by round, so that drift affects all of them equally. Each round
 * starts with another name, because work after an answer slows down the next contender.
 */
export async function takeTurns<Name>(
  names: readonly Name[],
  rounds: number,
  visit: (name: Name, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) await visit(name, round);
  }
}

/** Lets the relays take turns. */
export function interleave(
  rounds: number,
  visit: (name: ContenderName) => Promise<void>,
): Promise<void> {
  return takeTurns(RELAYS, rounds, visit);
}

/** Contenders that Interlock is compared with, and the aims. */
export type Aims = Readonly<Partial<Record<Peer, number | undefined>>>;
type Peer = Exclude<ContenderName, "interlock">;

const TITLES: Readonly<Record<Peer, string>> = {
  passThrough: "pass-through",
  rewrite: "parse and rewrite",
  honoOpenai: "Hono + openai",
  aiSdk: "AI SDK",
  sketch: "the sketch",
  cloudflareAgent: "Cloudflare's agent",
};

/** Compares Interlock with one contender. */
export function compare(raw: Record<ContenderName, number>, to: Peer, atMost?: number): Ratio {
  const value = raw.interlock / raw[to];
  return { to: TITLES[to], value, ...(atMost !== undefined && { atMost }) };
}

/**
 * Makes one row for each contender in `aims`. The ratio is the median of the ratios of all rounds;
 * samples with the same index belong to one round.
 */
export function pairedFigures(
  { name, unit }: Pick<Figure, "name" | "unit">,
  samples: Samples,
  aims: Aims,
): readonly Figure[] {
  const raw = Object.fromEntries(
    Object.entries(samples).flatMap(([contender, values]) =>
      values.length > 0 ? [[contender, median(values)]] : [],
    ),
  );
  return (Object.keys(aims) as Peer[]).map((to, index) => ({
    name,
    unit,
    raw: index === 0 ? raw : {},
    ratio: pairedRatio(samples, to, aims[to]),
  }));
}

function pairedRatio(samples: Samples, to: Peer, atMost: number | undefined): Ratio {
  const ratios = samples.interlock.map((value, round) => value / (samples[to][round] ?? NaN));
  const range = [quantile(ratios, 0.1), quantile(ratios, 0.9)] as const;
  return { to: TITLES[to], value: median(ratios), range, ...(atMost !== undefined && { atMost }) };
}
