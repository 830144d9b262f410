import { hashOf } from "../json/canonical-hash.ts";

/** What one logical operation is (seeds/004, "Idempotency Key Architecture"). */
export interface LogicalOperation {
  /** The first run of the conversation. */
  readonly workflowId: string;
  readonly runId: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly toolName: string;
  readonly toolVersion: string;
  /** Step and call id: what at-most-once is about. */
  readonly logicalOperationId: string;
  /** `sha256:…` over the validated arguments in canonical JSON. */
  readonly payloadHash: string;
}

/** Derives the key that stays the same over every attempt at one operation, and is like no other. */
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
