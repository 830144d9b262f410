import type { RunId, TenantId } from "../protocol/ids.ts";
import type { InvocationState } from "../protocol/invocation-state.ts";
import type { TaxonomyClass } from "../protocol/taxonomy.ts";

/** What is published of a finished run that came under a key. */
export interface RunRecord {
  readonly requestHash: string;
  /** Its whole event stream, as its first reader got it. */
  readonly stream: string;
}

/** What is published of an operation that changes something, once it has ended. No word of its arguments. */
export interface InvocationNotice {
  readonly runId: RunId;
  readonly invocationId: string;
  readonly toolId: string;
  readonly version: string;
  readonly state: InvocationState;
  readonly payloadHash: string;
  readonly outcome: TaxonomyClass;
  /** Unit: Unix milliseconds. */
  readonly endedAtMs: number;
}

/**
 * Publishes what has ended, so that a repeated request is answered without waking the run's object, and
 * so that others can read what became of an operation.
 * Contract: never throws and never decides: a record that is absent, late or lost costs one hop to the
 * object, which knows. Publishing answers false when it is to be tried again.
 */
export interface RunRecords {
  publish(runId: RunId, record: RunRecord): Promise<boolean>;
  publishInvocation(
    tenantId: TenantId,
    idempotencyKey: string,
    notice: InvocationNotice,
  ): Promise<boolean>;
  find(runId: RunId): Promise<RunRecord | undefined>;
}
