import type { RunJournal } from "../capabilities/run-journal.ts";

/** With more than this left, calls are counted ahead of being made. */
const PLENTY = 8;
/** As many as this; again when fewer than half of them are left. */
const AHEAD = 4;

type CallJournal = Pick<RunJournal, "note" | "flush" | "storedFacts">;

/**
 * Counts a run's model calls against its budget of steps, each in storage before it is made, so that a
 * crash loop cannot make more of them than a run without a crash could. The count stands some ahead while
 * plenty are left: a call need not wait for a commit of its own, and a crash may cost a few that were not
 * made.
 * Ownership: one per life of a run, over the count of its earlier lives.
 */
export class ModelCalls {
  readonly #journal: CallJournal;
  readonly #max: number;
  #made: number;
  #counted: number;

  constructor(
    journal: CallJournal,
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
    if (this.#counted < this.#made) this.#count(this.#made);
    if (this.#journal.storedFacts.modelCalls < this.#made) this.#journal.flush();
    if (this.left > PLENTY && this.#counted - this.#made < AHEAD / 2) {
      this.#count(this.#made + AHEAD);
    }
  }

  /** Gives one back that the provider refused to answer. */
  giveBack(): void {
    this.#made--;
  }

  /** Gives one back that was not made. Contract: it is not counted any more. */
  undo(): void {
    this.#made--;
    this.#count(this.#made);
  }

  #count(calls: number): void {
    this.#counted = calls;
    this.#journal.note({ modelCalls: calls });
  }
}
