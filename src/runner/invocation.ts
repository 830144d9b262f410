import type { AuthCapability } from "../capabilities/connection.ts";
import type { ProgressReport, InvocationScope } from "../capabilities/tool.ts";
import { deriveIdempotencyKey } from "../protocol/invocation/idempotency-key.ts";
import type { ConnectionId } from "../protocol/identity/ids.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { ok, type Result } from "../protocol/outcome/result.ts";
import { findSecret } from "../protocol/text/secrets.ts";
import type { ToolInvocationContext } from "../protocol/invocation/record.ts";
import type { ActiveCall } from "./active-call.ts";
import { operationIdOf } from "./invocation-ledger.ts";
import { failCall, TOOL_FAILED } from "./tool-failure.ts";

/** What one attempt runs with. */
export interface Invocation {
  readonly context: ToolInvocationContext;
  readonly scope: InvocationScope;
  /** Takes every capability back. */
  close(): void;
}

/**
 * Gives an attempt its context, its key and the capabilities that carry authority, each bound to this
 * invocation alone (seeds/000 #29a).
 * Fails: PERMISSION_DENIED for a connection that is gone, DEPENDENCY_UNAVAILABLE for one that cannot be
 * read, UNKNOWN_ERROR when a secret would enter the context.
 */
export async function openInvocation(
  hand: ActiveCall,
  payloadHash: string,
  connectionId: ConnectionId | undefined,
): Promise<Result<Invocation, ToolFailure>> {
  const { subjectId, tenantId } = hand.ports.principal;
  const context: ToolInvocationContext = {
    ...hand.context,
    ...(subjectId !== undefined && { subjectId }),
    ...(connectionId !== undefined && { connectionId }),
  };
  if (findSecret(context) !== undefined) return TOOL_FAILED;
  const abort = new AbortController();
  let auth: AuthCapability | undefined;
  if (connectionId !== undefined) {
    const bound = await hand.ports.broker.bind(tenantId, connectionId, abort.signal);
    if (!bound.ok) return refuseConnection(bound.failure.code);
    auth = bound.value;
  }
  const scope: InvocationScope = {
    signal: abort.signal,
    idempotencyKey: await keyOf(hand, payloadHash),
    progress: { report: progressReporter(hand, abort.signal) },
    ...(auth && { auth }),
  };
  return ok({ context, scope, close: () => abort.abort() });
}

function keyOf({ context, ports, tool }: ActiveCall, payloadHash: string): Promise<string> {
  const { actorId, subjectId, tenantId } = ports.principal;
  return deriveIdempotencyKey({
    workflowId: ports.workflowId,
    runId: context.runId,
    tenantId,
    userId: subjectId ?? actorId,
    toolName: tool.id,
    toolVersion: tool.version,
    logicalOperationId: operationIdOf(context),
    payloadHash,
  });
}

function refuseConnection(
  code: "unknown_connection" | "unreadable_connection",
): Result<never, ToolFailure> {
  return code === "unknown_connection"
    ? failCall("PERMISSION_DENIED", { code, message: "the connection does not exist" })
    : failCall("DEPENDENCY_UNAVAILABLE", { code, message: "the connection cannot be read" });
}

/** Reports between which readers could not tell the difference are dropped. Unit: milliseconds. */
const PROGRESS_EVERY_MS = 100;
const MAX_REPORTS = 200;

/** Progress goes to readers as it is, so it is numbers and declared stages alone. */
function progressReporter(
  { context, ports, tool }: ActiveCall,
  signal: AbortSignal,
): (progress: ProgressReport) => void {
  let reports = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let lastStage: string | undefined;
  return ({ stage, done, total }) => {
    const nowMs = ports.clock.nowMs();
    const isNews = stage !== lastStage || nowMs - lastMs >= PROGRESS_EVERY_MS;
    if (signal.aborted || !isNews || reports >= MAX_REPORTS) return;
    const known = stage !== undefined && tool.progressStages.includes(stage) ? stage : undefined;
    reports++;
    lastMs = nowMs;
    lastStage = stage;
    ports.journal.append([
      {
        type: "tool_call_progress",
        part: context.part,
        toolCallId: context.toolCallId,
        ...(known !== undefined && { stage: known }),
        ...(isCount(done) && { done }),
        ...(isCount(total) && { total }),
      },
    ]);
  };
}

function isCount(value: number | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
