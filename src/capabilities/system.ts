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

/** Chance. Contract: `fraction` is uniform in [0, 1). */
export interface Random {
  fraction(): number;
}
