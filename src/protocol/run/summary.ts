import type { ShownCall } from "./direct-call.ts";
import type { DoneReason } from "./event.ts";
import type { ActorId, RunId } from "../identity/ids.ts";
import type { RunStatus } from "./state.ts";

/** One item of the run directory, `GET /v1/runs`. Times are ISO 8601, UTC. */
export interface RunSummary {
  readonly runId: RunId;
  readonly status: RunStatus;
  readonly reason?: DoneReason;
  readonly title?: string;
  /** `none` in a run of one direct call. */
  readonly model: string;
  /** Present for a run of one direct call, which asks no model. */
  readonly call?: ShownCall;
  readonly actorId: ActorId;
  readonly subjectId?: ActorId;
  /** The actor who minted the embed token that started the run. */
  readonly minterId?: ActorId;
  /** The assistant of the run. Absent for a direct call. */
  readonly assistantId?: string;
  readonly steps: number;
  readonly toolCalls: number;
  /** The tools that were asked for, each once, at most 50, those that ran first; or absent. */
  readonly toolIds?: readonly string[];
  /** What the run stores. Absent for a run that an earlier release reported. Unit: bytes. */
  readonly storedBytes?: number;
  /** Number of calls whose unknown outcome an operator may resolve; absent without any. */
  readonly awaitsOutcomes?: number;
  readonly createdAt: string;
  readonly endedAt?: string;
}
