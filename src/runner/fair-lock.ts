/**
 * Lets sharers run together and gives everyone else the place alone, in the order of asking:
 * whoever waits is never overtaken, so a stream of readers cannot starve a writer.
 * Contract: `acquire` takes its turn when it is called, not when it is awaited.
 */
export class FairLock {
  readonly #waiting: Waiter[] = [];
  #sharers = 0;
  #isTaken = false;

  /** Answers once it is this caller's turn, with the function that gives the turn back. */
  async acquire(isShared: boolean): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ isShared, admit: resolve });
    this.#admit();
    await promise;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (isShared) this.#sharers--;
      else this.#isTaken = false;
      this.#admit();
    };
  }

  #admit(): void {
    for (let [next] = this.#waiting; next; [next] = this.#waiting) {
      if (this.#isTaken || (!next.isShared && this.#sharers > 0)) return;
      this.#waiting.shift();
      if (next.isShared) this.#sharers++;
      else this.#isTaken = true;
      next.admit();
    }
  }
}

interface Waiter {
  readonly isShared: boolean;
  admit(): void;
}
