import type { Clock } from "../../capabilities/system.ts";

/** After this many microtasks, nothing else in the replay can make progress without time. */
const IDLE_MICROTASKS = 100;

/**
 * A clock that shows the time of the record. It wakes a waiting task as soon as nothing else can
 * happen, and moves forward to the time that the task waited for.
 * Contract: a promise that resolves at once never times out.
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
      for (let passed = 0; passed < IDLE_MICROTASKS; passed++) await Promise.resolve();
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
