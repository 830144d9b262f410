import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { RunId, TenantId } from "../../protocol/identity/ids.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { DeclaredModel } from "../../protocol/model/declaration.ts";
import type { Usage } from "../../protocol/model/usage.ts";
import type { AiEvent, DoneReason, RunError } from "../../protocol/run/event.ts";
import type { SideEffectClass } from "../../protocol/tool/effect.ts";
import type { AttributeValue } from "./span.ts";

/** A run that has ended, as far as its spans tell of it. Unit of times: Unix milliseconds. */
export interface TracedRun {
  readonly runId: RunId;
  readonly tenantId: TenantId;
  readonly conversationId: RunId;
  readonly assistantId?: string | undefined;
  /** The id of the model of the request. */
  readonly model: string;
  /** Somebody called one tool, and no model was asked. */
  readonly isCall: boolean;
  readonly createdMs: number;
  readonly endedMs: number;
  readonly reason: DoneReason;
  readonly error: RunError | null;
  readonly usage: Usage;
  /** How often the object of the run died meanwhile. */
  readonly interruptions: number;
  /** Those that tell of its steps, and any others. */
  readonly events: Iterable<AiEvent>;
  readonly calls: readonly ToolInvocationRecord[];
  readonly approvals: readonly ApprovalRecord[];
  /** How long operators may resolve an unknown outcome. */
  readonly outcomeWaitMs: number;
  readonly modelOf: (id: string) => Pick<DeclaredModel, "name" | "wire"> | undefined;
  readonly toolOf: (name: string, version?: string) => TracedTool | undefined;
  /** Hashes of the idempotency keys of writes, by the number of the invocation. */
  readonly keyHashes: ReadonlyMap<number, string>;
}

/** What a contract says of the spans of its calls. */
export interface TracedTool {
  readonly sideEffectClass: SideEffectClass;
  /** Fields of its arguments or its output, by their name. */
  readonly traceAttributes: readonly string[];
}

/** What the run says of one of its calls, besides the record. */
export interface TracedCall {
  readonly tenantId: TenantId;
  readonly tool: TracedTool | undefined;
  readonly toolName: string;
  readonly validation: "passed" | "failed" | "repaired" | "blocked" | "approval_pending";
  readonly keyHash: string | undefined;
  /** Its approval requests, in order. */
  readonly requests: readonly ApprovalRecord[];
  readonly named: readonly (readonly [name: string, value: AttributeValue])[];
}
