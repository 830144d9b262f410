import type { Target } from "./client.ts";
import { CONTENDERS, type ContenderName, type ContenderPlan } from "./contenders/plan.ts";
import type { Contender } from "./contenders/start.ts";

/** One measured value of each contender, and the aim. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly raw: Readonly<Partial<Record<ContenderName | "direct" | "aiSdk", number>>>;
  /** How Interlock compares: with another contender, or with itself at another size. */
  readonly ratio?: Ratio;
}

export interface Ratio {
  readonly to: string;
  readonly value: number;
  /** The largest value that meets the aim; absent where there is none. */
  readonly atMost?: number;
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
  return { interlock: [], passThrough: [], honoOpenai: [] };
}

/** Computes one figure of each contender. */
export function each(compute: (name: ContenderName) => number): Record<ContenderName, number> {
  return {
    interlock: compute("interlock"),
    passThrough: compute("passThrough"),
    honoOpenai: compute("honoOpenai"),
  };
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

/** Lets the contenders take turns. */
export function interleave(
  rounds: number,
  visit: (name: ContenderName) => Promise<void>,
): Promise<void> {
  return takeTurns(CONTENDERS, rounds, visit);
}

/** Compares Interlock with one contender. */
export function compare(
  raw: Record<ContenderName, number>,
  to: "passThrough" | "honoOpenai",
  atMost?: number,
): Ratio {
  const title = to === "passThrough" ? "pass-through" : "Hono + openai";
  const value = raw.interlock / raw[to];
  return { to: title, value, ...(atMost !== undefined && { atMost }) };
}
