import { hashOf } from "../json/canonical-hash.ts";

/** The parts that identify one logical operation (seeds/004, "Idempotency Key Architecture"). */
export interface LogicalOperation {
  /** The first run of the conversation. */
  readonly workflowId: string;
  readonly runId: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly toolName: string;
  readonly toolVersion: string;
  /** Step and call id. Each logical operation runs at most once. */
  readonly logicalOperationId: string;
  /** `sha256:…` over the validated arguments in canonical JSON. */
  readonly payloadHash: string;
}

/** Derives the idempotency key of one operation: unique, and the same for every attempt. */
export function deriveIdempotencyKey(operation: LogicalOperation): Promise<string> {
  return hashOf([
    operation.workflowId,
    operation.runId,
    operation.tenantId,
    operation.userId,
    operation.toolName,
    operation.toolVersion,
    operation.logicalOperationId,
    operation.payloadHash,
  ]);
}
