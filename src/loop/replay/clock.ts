import type { Clock } from "../../capabilities/system.ts";

/** Promises that may settle before waiting means that nothing else happens. */
const TURNS = 100;

/**
 * A clock that stands where the record puts it. Whoever waits is woken as soon as nobody else has
 * anything to do, and it is that much later then.
 * Contract: what is answered at once never times out.
 */
export class ReplayClock implements Clock {
  #nowMs: number;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  schedule(delayMs: number, task: () => void): () => void {
    const atMs = this.#nowMs + delayMs;
    let isCancelled = false;
    const wake = async (): Promise<void> => {
      for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
      if (isCancelled) return;
      this.#nowMs = Math.max(this.#nowMs, atMs);
      task();
    };
    void wake();
    return () => {
      isCancelled = true;
    };
  }
}
