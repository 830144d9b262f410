/**
 * A read/write lock that is granted in the order of requests. Shared holders run together; any
 * other holder runs alone. A waiting request is never overtaken, so readers cannot starve a writer.
 * Contract: a request joins the queue when `acquire` is called, not when it is awaited.
 */
export class FairLock {
  readonly #waiting: Waiter[] = [];
  #sharers = 0;
  #isTaken = false;

  /** Resolves when the lock is granted, with the function that releases it. */
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
