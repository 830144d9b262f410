import type { Subject } from "./subject.ts";

/** Records what a mode finds about one contract. */
export interface Checks {
  /**
   * Notes whether a rule holds; `seen` says what was there instead. A rule may be checked many
   * times.
   */
  that(rule: string, holds: boolean, seen?: unknown): void;
}

/** Why a mode has no verdict about a contract. */
export interface Inapplicable {
  readonly reason: string;
}

/** One test mode of a contract. */
export interface TestMode {
  /** One word: its column. */
  readonly id: string;
  /** As seeds/004, "Tool Contract Evaluation Harness", names it. */
  readonly name: string;
  run(subject: Subject, checks: Checks): Promise<Inapplicable | undefined>;
}

/** Marks a mode as inapplicable, with the reason in the contract. */
export function inapplicable(reason: string): Inapplicable {
  return { reason };
}
