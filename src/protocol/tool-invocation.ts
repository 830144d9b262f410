import type { ActorId, ConnectionId, RunId, TenantId, ToolCallId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { ObservationObject } from "./observation.ts";
import type { ResponseVector } from "./response-vector.ts";
import type { ToolErrorCode } from "./taxonomy.ts";

/** Context of one invocation: references only, never a secret (seeds/000 #28, F2). */
export interface ToolInvocationContext {
  readonly runId: RunId;
  readonly tenantId: TenantId;
  readonly actorId: ActorId;
  /** On whose behalf; bound by the server alone. */
  readonly subjectId?: ActorId;
  /** The one connection this invocation may use, when its tool requires one (seeds/000 #26a). */
  readonly connectionId?: ConnectionId;
  readonly toolCallId: ToolCallId;
  readonly step: number;
  /** The event part that shows this call; see AiEvent. */
  readonly part: number;
}

/** What `toolRunner.exec` returns (seeds/000, "Tool Policy Architecture"). */
export interface ToolExecResult {
  readonly toolCallId: ToolCallId;
  readonly ok: boolean;
  /** Redacted output, when ok. */
  readonly value?: JsonObject;
  /** Present when not ok. */
  readonly errorCode?: ToolErrorCode;
  readonly observation: ObservationObject;
  readonly response: ResponseVector;
}

/** One admitted attempt, as recorded (seeds/000 #10). Of what the run keeps, only this and the transcript hold raw arguments. */
export interface ToolInvocationRecord {
  readonly toolCallId: ToolCallId;
  readonly step: number;
  readonly name: string;
  /** As the model wrote them; never leaves the run's storage. */
  readonly argumentsText: string;
  /** Redacted arguments; absent when they never passed validation. */
  readonly args?: JsonObject;
  readonly observation: ObservationObject;
  /** What may follow (seeds/004, "Response Vector Model"). */
  readonly response: ResponseVector;
  readonly errorCode?: ToolErrorCode;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}
