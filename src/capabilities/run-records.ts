import type { OwnedRun } from "./fingerprints.ts";
import type { RunId, TenantId } from "../protocol/identity/ids.ts";
import type { InvocationState } from "../protocol/invocation/state.ts";
import type { TaxonomyClass } from "../protocol/outcome/taxonomy.ts";
import type { StreamedRun } from "../protocol/run/client-wire.ts";
import type { LoggedEvent } from "../protocol/run/event.ts";

/** A finished run as published in KV, for repeated requests under its idempotency key. */
export interface RunRecord {
  /** Hash of the request body that started the run. */
  readonly requestHash: string;
  readonly run: StreamedRun;
  /** All events of the run, in order. Each reader gets them encoded in its own wire. */
  readonly events: readonly LoggedEvent[];
}

/**
 * The outcome of an ended operation that changes something, as published in KV. Contract: holds no
 * arguments and no idempotency key.
 */
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
 * Publishes finished runs and ended operations. A published run answers a repeated request without
 * waking the run's object. A published operation lets other systems read its outcome.
 * Contract: never throws. A missing, late or lost record costs one request to the run's object,
 * which has the truth. `publish` and `publishInvocation` answer false when the caller must retry.
 * Hashes and keys are published as fingerprints. `find` answers `other_request` for the record of a
 * request with another hash.
 */
export interface RunRecords {
  publish(run: OwnedRun, record: RunRecord): Promise<boolean>;
  publishInvocation(
    tenantId: TenantId,
    idempotencyKey: string,
    notice: InvocationNotice,
  ): Promise<boolean>;
  /** Deletes the record of a run. Answers false when the caller must retry. */
  remove(run: OwnedRun): Promise<boolean>;
  find(run: OwnedRun, requestHash: string): Promise<RunRecord | "other_request" | undefined>;
}
