/** Tells the time and wakes callers. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
  /**
   * Calls `task` once after `delayMs`, unless the returned function is called before.
   * Contract: never calls synchronously; cancelling twice, or late, does nothing.
   */
  schedule(delayMs: number, task: () => void): () => void;
}
