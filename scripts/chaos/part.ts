import type { Deployment } from "./host/deployment.ts";
import type { Operator } from "./people/operator.ts";
import type { ProgressLine } from "./progress-line.ts";
import type { World } from "./world/world.ts";

/** What a part works with. */
export interface PartContext {
  readonly world: World;
  readonly deployment: Deployment;
  readonly operator: Operator;
  readonly seed: number;
  /** A small share of everything. */
  readonly isShort: boolean;
  /** A new directory for what one deployment stores. */
  readonly makeDirectory: () => string;
  readonly progress: ProgressLine;
}

/** A case that broke a promise. */
export interface Failure {
  /** Name that finds the case again. */
  readonly name: string;
  readonly problems: readonly string[];
}

/** Result of a part. Counts depend on the seed and the product, not on the machine. */
export interface PartResult {
  /** Counts by name. */
  readonly counts: Readonly<Record<string, number>>;
  readonly failures: readonly Failure[];
}

/** One part of the proof. */
export interface Part {
  readonly name: string;
  /** The promise that the part proves. */
  readonly claim: string;
  run(context: PartContext): Promise<PartResult>;
}
