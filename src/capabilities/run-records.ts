import type { RunId } from "../protocol/ids.ts";

/** What is published of a finished run that came under a key. */
export interface RunRecord {
  readonly requestHash: string;
  /** Its whole event stream, as its first reader got it. */
  readonly stream: string;
}

/**
 * Publishes finished runs, so that a repeated request is answered without waking the run's object.
 * Contract: never throws and never decides: a record that is absent, late or lost costs one hop to the
 * object, which knows.
 */
export interface RunRecords {
  publish(runId: RunId, record: RunRecord): Promise<void>;
  find(runId: RunId): Promise<RunRecord | undefined>;
}
