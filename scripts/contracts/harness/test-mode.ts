import type { Subject } from "./subject.ts";

/** Records what a mode finds about one contract. */
export interface Checks {
  /**
   * Notes whether a rule holds; `seen` says what was there instead. A rule may be checked many
   * times.
   */
  that(rule: string, holds: boolean, seen?: unknown): void;
}

/**
 * Why a mode has no verdict: `pending` until a part is built, `inapplicable` because of the
 * contract.
 */
export interface Remainder {
  readonly kind: "pending" | "inapplicable";
  readonly reason: string;
}

/** One test mode of seeds/004, "Tool Contract Evaluation Harness". */
export interface TestMode {
  /** One word: its column. */
  readonly id: string;
  /** As the source names it. */
  readonly name: string;
  /** Contract: the checks that it can make are made, also where something is left open. */
  run(subject: Subject, checks: Checks): Promise<Remainder | undefined>;
}

/** Marks a mode as pending, because a part is not built yet. */
export function pending(reason: string): Remainder {
  return { kind: "pending", reason };
}

/** Marks a mode as inapplicable, with the reason in the contract. */
export function inapplicable(reason: string): Remainder {
  return { kind: "inapplicable", reason };
}
