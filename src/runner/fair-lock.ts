/**
 * A read/write lock that is granted in the order of requests. Shared holders run together; any
 * other holder runs alone. A waiting request is never overtaken, so readers cannot starve a writer.
 * Contract: a request joins the queue when `acquire` is called, not when it is awaited.
 */
export class FairLock {
  readonly #waiting: Waiter[] = [];
  #sharers = 0;
  #isTaken = false;
  #isParked = false;

  /**
   * Resolves when the lock is granted, with the function that releases it. Undefined when a parked
   * holder is in the way.
   */
  async acquire(isShared: boolean): Promise<(() => void) | undefined> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ isShared, answer: resolve });
    this.#admit();
    if (!(await promise)) return undefined;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (isShared) this.#sharers--;
      else this.#isTaken = false;
      this.#admit();
    };
  }

  /**
   * Tells that a holder keeps the lock for good. Requests that have to wait are refused, and so is
   * every request after them.
   */
  park(): void {
    this.#isParked = true;
    this.#admit();
  }

  #admit(): void {
    let isRefusing = false;
    for (let [next] = this.#waiting; next; [next] = this.#waiting) {
      const isBlocked = this.#isTaken || (!next.isShared && this.#sharers > 0);
      if (isBlocked && !this.#isParked) return;
      this.#waiting.shift();
      isRefusing ||= isBlocked;
      if (isRefusing) {
        // Nothing may overtake a refused request.
        this.#isTaken = true;
        next.answer(false);
        continue;
      }
      if (next.isShared) this.#sharers++;
      else this.#isTaken = true;
      next.answer(true);
    }
  }
}

interface Waiter {
  readonly isShared: boolean;
  readonly answer: (isGranted: boolean) => void;
}
