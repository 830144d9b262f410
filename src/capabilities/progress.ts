/** How far a running tool is: numbers, and a stage that its contract declares; no free text. */
export interface ProgressReport {
  /** One of the contract's `progressStages`. */
  readonly stage?: string;
  readonly done?: number;
  readonly total?: number;
}

/** Tells readers how far the invocation is. Contract: never throws; what is too frequent is dropped. */
export interface Progress {
  report(progress: ProgressReport): void;
}
