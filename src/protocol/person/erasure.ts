import type { BusyReason } from "../conversation/erasure.ts";
import type { RunId } from "../identity/ids.ts";

/** What of a person is not erased, and why; exactly one of the first three is there. */
export interface LeftData {
  readonly conversationId?: RunId;
  /** A call without a conversation. */
  readonly runId?: RunId;
  /** `<name>/<id>` */
  readonly workspace?: string;
  readonly why: readonly (BusyReason | LeftReason)[];
}

type LeftReason =
  /** Somebody else speaks in it, too. */
  "shared";

/** How the erasure of one person stands. It does not name the person. Times are ISO 8601, UTC. */
export interface PersonErasure {
  /** The keyed hash of the person. */
  readonly erasureId: string;
  /** `incomplete`: something is left, and another request goes on. */
  readonly status: "running" | "incomplete" | "complete";
  readonly beganAt: string;
  readonly endedAt?: string;
  readonly erased: ErasedCounts;
  /** The first 100 of them. */
  readonly left: readonly LeftData[];
  /** Workspaces that do not say how to erase a person: `<name>/<id>`. */
  readonly without: readonly string[];
}

/** What was erased so far. */
export interface ErasedCounts {
  readonly conversations: number;
  /** Calls without a conversation. */
  readonly calls: number;
  /** Rows of workspaces. */
  readonly rows: number;
}
