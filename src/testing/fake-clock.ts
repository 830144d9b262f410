import type { Clock } from "../capabilities/system.ts";

/** A clock that stands still until a test advances it. */
export class FakeClock implements Clock {
  #nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  #tasks: { readonly at: number; readonly task: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  schedule(delayMs: number, task: () => void): () => void {
    const entry = { at: this.#nowMs + delayMs, task };
    this.#tasks.push(entry);
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== entry);
    };
  }

  /** Number of waiting timers. */
  get waiting(): number {
    return this.#tasks.length;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#tasks.filter(({ at }) => at <= this.#nowMs);
    this.#tasks = this.#tasks.filter(({ at }) => at > this.#nowMs);
    for (const { task } of due) task();
  }
}
