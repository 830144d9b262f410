import { inject } from "vitest";
import { seededRandom, type SeededRandom } from "../../scripts/chaos/seeded-random.ts";

/** How much of the long matrices this test run tries; `vitest.config.ts` reads it. */
export interface SamplePlan {
  readonly seed: number;
  /** True for `npm run test:full`: every case of every matrix runs. */
  readonly isFull: boolean;
}

declare module "vitest" {
  interface ProvidedContext {
    readonly samplePlan: SamplePlan;
  }
}

/** Seed of this test run, for choices other than a sample. */
export function sampleSeed(): number {
  return inject("samplePlan").seed;
}

/** One of how many runs of a property a sample takes. */
const ONE_RUN_OF = 10;

/** Options of a property that takes long: a sample of its runs, seeded; a full run takes all. */
export function sampleOfRuns(runs: number): { readonly numRuns: number; readonly seed: number } {
  const { seed, isFull } = inject("samplePlan");
  return { numRuns: isFull ? runs : Math.ceil(runs / ONE_RUN_OF), seed };
}

/**
 * Picks cases of every group: one of each `oneOf` cases begun, so that no group is left out. A full
 * run picks all cases.
 * Contract: the same seed picks the same cases, in their order.
 */
export function sampleOfGroups<Case>(
  cases: readonly Case[],
  groupOf: (one: Case) => string | number,
  oneOf: number,
): readonly Case[] {
  const { seed, isFull } = inject("samplePlan");
  return isFull ? cases : pickOfGroups(cases, groupOf, { oneOf, random: seededRandom(seed) });
}

/**
 * Picks at random one of each `oneOf` cases begun of a group. Contract: keeps the order of cases.
 */
export function pickOfGroups<Case>(
  cases: readonly Case[],
  groupOf: (one: Case) => string | number,
  { oneOf, random }: { readonly oneOf: number; readonly random: SeededRandom },
): readonly Case[] {
  const groups = Map.groupBy(cases, groupOf);
  const picked = new Set<Case>();
  for (const group of groups.values()) {
    const rest = [...group];
    const wanted = Math.ceil(rest.length / oneOf);
    for (let count = 0; count < wanted; count++) {
      for (const one of rest.splice(random.below(rest.length), 1)) picked.add(one);
    }
  }
  return cases.filter((one) => picked.has(one));
}
