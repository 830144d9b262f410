import type { ApprovalRecord } from "../protocol/approval/record.ts";
import {
  statusOf,
  type RunState,
  type ToolCallSummary,
  type VerificationSummary,
} from "../protocol/run/state.ts";
import {
  awaitsRetry,
  type InvocationEnd,
  type ToolInvocationRecord,
} from "../protocol/invocation/record.ts";
import { isHeldBySaga } from "./undo/standing.ts";
import type { FingerprintOf } from "./outgoing-hashes.ts";
import type { Run } from "./run.ts";
import { awaitsOperator } from "./invocations.ts";
import { madeAfter } from "../protocol/label/source.ts";
import { toIso } from "../protocol/text/iso-time.ts";
import { invocationIdOf } from "../protocol/invocation/id.ts";

type ShownRun = Pick<Run, "approvals" | "invocations" | "store">;

/** How a run is shown to one viewer. */
interface Showing {
  /** The viewer may undo calls of this run, as far as policy allows. */
  readonly mayUndo: boolean;
  readonly fingerprintOf: FingerprintOf;
}

/** Formats a stored run as `GET /v1/runs/:id` shows it. */
export async function runStateOf(
  { approvals, invocations, store }: ShownRun,
  showing: Showing,
): Promise<RunState> {
  const { runId, model, createdMs } = store.identity();
  const { reason, error, title, steps, usage, endedMs } = store.progress();
  const { isWaiting, epoch } = store.incarnations();
  const call = store.call();
  const calls = { all: invocations.all(), pending: approvals.pending() };
  return {
    runId,
    status: statusOf(reason, isWaiting),
    ...(reason !== null && { reason }),
    ...(error !== null && { error }),
    ...(title !== null && { title }),
    model,
    ...(call && { call }),
    steps,
    recoveries: epoch,
    toolCalls: await Promise.all(calls.all.map((record) => toSummary(record, calls, showing))),
    usage,
    timestamps: {
      createdAt: toIso(createdMs),
      ...(endedMs !== null && { endedAt: toIso(endedMs) }),
    },
  };
}

/** All calls of a run, and its approvals that are not closed. */
interface ShownCalls {
  readonly all: readonly ToolInvocationRecord[];
  readonly pending: readonly ApprovalRecord[];
}

async function toSummary(
  record: ToolInvocationRecord,
  { all, pending }: ShownCalls,
  { mayUndo, fingerprintOf }: Showing,
): Promise<ToolCallSummary> {
  const { number, toolCallId, name, step, state, dispatches, binding, resolution, end } = record;
  const { observation, response } = end ?? {};
  const metadata = observation?.execution_metadata;
  const find = (wanted: number): ToolInvocationRecord | undefined =>
    all.find((one) => one.number === wanted);
  const undo = undoStateOf(record, mayUndo && !isHeldBySaga(record, find));
  const approval = pending.find(({ invocation }) => invocation === number);
  return {
    toolCallId,
    invocationId: invocationIdOf(number),
    name,
    version:
      observation?.tool_identity.version ?? binding?.version ?? approval?.toolVersion ?? "unknown",
    step,
    ...madeAfter(record.after),
    ...(record.saga && { saga: invocationIdOf(record.saga.number) }),
    state,
    attempts: metadata?.attempt_number ?? Math.max(1, dispatches),
    startedAt: toIso(end?.startedAtMs ?? record.askedAtMs),
    ...(binding && {
      payloadHash: await fingerprintOf(binding.payloadHash),
      idempotencyKeyHash: await fingerprintOf(binding.idempotencyKey),
    }),
    ...(awaitsOperator(record) && { awaitsOutcomeUntil: toIso(record.awaitedUntilMs ?? 0) }),
    ...(record.retry &&
      !approval &&
      awaitsRetry(record) && {
        nextAttemptAt: toIso(record.retry.atMs),
      }),
    ...(approval && {
      approvalId: approval.id,
      awaitsApprovalUntil: toIso(approval.expiresAtMs),
    }),
    ...(undo && { undo }),
    ...(resolution?.by && { resolvedBy: resolution.by }),
    ...(end?.verification && { verification: summariseVerification(record, end) }),
    ...(observation && { outcome: observation.status.taxonomy_class }),
    ...(response && { nextAction: response.next_action }),
    ...(end && { endedAt: toIso(end.endedAtMs) }),
  };
}

function undoStateOf(
  { end, undo }: ToolInvocationRecord,
  mayUndo: boolean,
): ToolCallSummary["undo"] {
  const { toolId } = end?.compensation ?? {};
  if (toolId === undefined) return undefined;
  if (undo && undo.status !== "released") return { status: undo.status, toolId, runId: undo.runId };
  return mayUndo ? { status: "available", toolId, ...(undo && { runId: undo.runId }) } : undefined;
}

function summariseVerification(
  { verification }: ToolInvocationRecord,
  { observation, verification: planned }: InvocationEnd,
): VerificationSummary {
  const { attempts = 0, outcome, reason, found, atMs, nextAtMs, reviewedBy } = verification ?? {};
  const dueAtMs = nextAtMs ?? planned?.dueAtMs ?? 0;
  return {
    status: outcome ?? "pending",
    ...(reason && { reason }),
    reference: observation.verification.target_state_reference,
    expectedState: observation.verification.expected_state,
    ...(found && { foundState: found }),
    attempts,
    ...(outcome === undefined && { dueAt: toIso(dueAtMs) }),
    ...(atMs !== undefined && { verifiedAt: toIso(atMs) }),
    ...(reviewedBy !== undefined && { reviewedBy }),
  };
}
