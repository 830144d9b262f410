/** Tells the time and wakes callers. */
export interface Clock {
  /** Answers Unix time in milliseconds. */
  nowMs(): number;
  /**
   * Calls `task` once after `delayMs`. Calling the returned function earlier cancels it.
   * Contract: never calls `task` synchronously; cancelling twice or late does nothing.
   */
  schedule(delayMs: number, task: () => void): () => void;
}

/** Lets work of the current request go on after its caller has left. */
export type KeepAlive = (work: Promise<void>) => void;

/** Makes random numbers. Contract: `fraction` is uniform in [0, 1). */
export interface Random {
  fraction(): number;
}
