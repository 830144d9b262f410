import type { Clock } from "../../capabilities/system.ts";

interface Timer {
  readonly atMs: number;
  readonly task: () => void;
}

/** A clock that stands still until a test advances it. */
export class FakeClock implements Clock {
  #nowMs: number;
  #timers: readonly Timer[] = [];

  /** Unit: Unix milliseconds. */
  constructor(nowMs = Date.UTC(2026, 0, 2, 3, 4, 5)) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  schedule(delayMs: number, task: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, task };
    this.#timers = [...this.#timers, timer];
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Number of waiting timers. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Time until the next timer is due; undefined without a timer. Unit: milliseconds. */
  get nextDelayMs(): number | undefined {
    if (this.#timers.length === 0) return undefined;
    return Math.max(0, Math.min(...this.#timers.map(({ atMs }) => atMs)) - this.#nowMs);
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#timers.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#timers = this.#timers.filter(({ atMs }) => atMs > this.#nowMs);
    for (const { task } of due) task();
  }
}
