import type { TenantId } from "../protocol/identity/ids.ts";

/** Asks what a tenant and one person stored within a window. */
export interface StorageQuery {
  /** The person whose runs they are; for a run without one, its actor. */
  readonly person: string;
  readonly windowSeconds: number;
}

/** Bytes that runs stored since the window began, in whole hours. */
export interface StorageUse {
  readonly actorBytes: number;
  readonly tenantBytes: number;
}

/**
 * Tells what the runs of a tenant stored. The figure may be 30 seconds old.
 * Contract: never throws. `read` answers undefined when the tenant's object does not answer.
 */
export interface StorageMeter {
  read(tenantId: TenantId, query: StorageQuery): Promise<StorageUse | undefined>;
  /** Counts what a new run stores, before the tenant's object knows the run. */
  add(tenantId: TenantId, person: string, bytes: number): void;
}
