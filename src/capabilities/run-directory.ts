import type { ActorId, TenantId } from "../protocol/ids.ts";
import type { RunStatus } from "../protocol/run-state.ts";
import type { RunSummary } from "../protocol/run-summary.ts";
import type { Place, Slice } from "../protocol/slice.ts";

/** Which runs a caller wants to see, and may. Times in Unix milliseconds. */
export interface RunQuery {
  /** Absent: everybody's. */
  readonly viewer?: RunViewer;
  readonly status?: RunStatus;
  readonly actor?: ActorId;
  /** Started then or later. */
  readonly fromMs?: number;
  /** Started before. */
  readonly toMs?: number;
  readonly limit: number;
  readonly after?: Place;
}

/** Whose runs are somebody's own. */
export interface RunViewer {
  /** Those on this person's account. */
  readonly person: ActorId;
  /** Those that it started itself, on whoever's account; absent for who acts on behalf of a person. */
  readonly actor?: ActorId;
}

/**
 * Lists the runs of a tenant.
 * Contract: newest first; a page after a place is not changed by runs that start meanwhile. It is told of
 * runs a little later than they happen. Throws when the tenant's object cannot be reached.
 */
export interface RunDirectory {
  list(tenantId: TenantId, query: RunQuery): Promise<Slice<RunSummary>>;
}
