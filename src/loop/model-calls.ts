import type { RunJournal } from "../capabilities/run-journal.ts";

/** With more than this left, the next call is counted while the last one is under way. */
const PLENTY = 4;

/**
 * Counts a run's model calls against its budget of steps, each in storage before it is made, so that a
 * crash loop cannot make more of them than a run without a crash could. The count stands one ahead while
 * plenty are left: a call need not wait for its own commit, and a crash may cost one that was not made.
 * Ownership: one per life of a run, over the count of its earlier lives.
 */
export class ModelCalls {
  readonly #journal: Pick<RunJournal, "note" | "flush">;
  readonly #max: number;
  #made: number;
  #counted: number;

  constructor(
    journal: Pick<RunJournal, "note" | "flush">,
    { made, counted }: { readonly made: number; readonly counted: number },
    max: number,
  ) {
    this.#journal = journal;
    this.#made = made;
    this.#counted = counted;
    this.#max = max;
  }

  get made(): number {
    return this.#made;
  }

  get left(): number {
    return this.#max - this.#made;
  }

  /** Takes one. Contract: what leaves the object from now on leaves after it is stored. */
  take(): void {
    this.#made++;
    if (this.#counted < this.#made) {
      this.#count(this.#made);
      this.#journal.flush();
    }
    if (this.left > PLENTY) this.#count(this.#made + 1);
  }

  /** Gives one back that the provider refused to answer. */
  giveBack(): void {
    this.#made--;
  }

  #count(calls: number): void {
    this.#counted = calls;
    this.#journal.note({ modelCalls: calls });
  }
}
