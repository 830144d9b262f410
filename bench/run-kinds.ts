import { SCENARIOS, type Scenario } from "./upstream/scenario.ts";

/** A kind of run whose storage is measured. */
export interface RunKind {
  readonly name: string;
  readonly scenario: Scenario;
  /** Deltas of its text. */
  readonly deltas: number;
  /** Most writes to write-ahead logs; absent where there is no aim. */
  readonly maxWalWrites?: number;
}

export const RUN_KINDS: readonly RunKind[] = [
  { name: "20 deltas", scenario: SCENARIOS.pacedShort, deltas: 20, maxWalWrites: 15 },
  { name: "one tool step", scenario: SCENARIOS.oneStep, deltas: 8 },
  { name: "20 tool steps", scenario: SCENARIOS.chain, deltas: 8, maxWalWrites: 80 },
];
