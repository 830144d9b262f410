import type { RunJournal } from "../../capabilities/run-journal.ts";

/** With more calls left than this, calls are counted in advance. */
const PLENTY = 8;
/** How many calls are counted in advance; repeated when fewer than half of them remain. */
const ADVANCE = 4;

type CallJournal = Pick<RunJournal, "note" | "flush" | "storedFacts">;

/**
 * Counts a run's model calls against its step budget.
 * Threat: a crash loop makes more model calls than a run without a crash could. So each call is in
 * storage before it is made. While plenty are left, calls are counted in advance: no call then
 * waits for a commit of its own, and a crash may cost a few calls that were never made.
 * Ownership: one per incarnation of a run; it continues the count of earlier incarnations.
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

  /** Takes one call. Contract: its count is stored before what leaves the object from now on. */
  take(): void {
    this.#made++;
    if (this.#counted < this.#made) this.#count(this.#made);
    if (this.#journal.storedFacts.modelCalls < this.#made) this.#journal.flush();
    if (this.left > PLENTY && this.#counted - this.#made < ADVANCE / 2) {
      this.#count(this.#made + ADVANCE);
    }
  }

  /** Gives back a call that the provider refused. Its stored count stays for the next call. */
  giveBack(): void {
    this.#made--;
  }

  /** Cancels a call that was not made. Its stored count is lowered, too. */
  cancel(): void {
    this.#made--;
    this.#count(this.#made);
  }

  #count(calls: number): void {
    this.#counted = calls;
    this.#journal.note({ modelCalls: calls });
  }
}
