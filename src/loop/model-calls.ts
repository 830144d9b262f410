import type { RunJournal } from "../capabilities/run-journal.ts";

/**
 * Counts a run's model calls against its budget of steps: each one before it is made, in storage, so that
 * a crash loop cannot make more of them than a run without a crash could.
 * Ownership: one per life of a run, over the count of its earlier lives.
 */
export class ModelCalls {
  readonly #journal: Pick<RunJournal, "note" | "flush">;
  readonly #max: number;
  #made: number;

  constructor(journal: Pick<RunJournal, "note" | "flush">, made: number, max: number) {
    this.#journal = journal;
    this.#made = made;
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
    this.#journal.note({ modelCalls: this.#made });
    this.#journal.flush();
  }

  /** Gives one back that the provider refused to answer. */
  giveBack(): void {
    this.#made--;
    this.#journal.note({ modelCalls: this.#made });
  }
}
