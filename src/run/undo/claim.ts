import type { PageReach, UndoAnswer, UndoRequest } from "../../capabilities/run.ts";
import type { RunIds } from "../../capabilities/run-ids.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { ActorId, RunId } from "../../protocol/identity/ids.ts";
import type { Viewer } from "../../protocol/identity/viewer.ts";
import type { Resolution, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { attemptOf, UNDO_OWNER, type UndoReport } from "../../protocol/invocation/undo.ts";
import { isHeldBySaga } from "./standing.ts";
import type { Run } from "../run.ts";

export interface UndoPorts {
  readonly runIds: Pick<RunIds, "derive">;
  readonly clock: Pick<Clock, "nowMs">;
  /** How long an ended run is kept. Unit: milliseconds. */
  readonly keptMs: number;
}

/**
 * Claims a completed call for the run that undoes it. The id of that run derives from this run, the
 * call and the attempt: two clicks, a repetition and a crash find the same run.
 */
export async function claimUndo(
  run: Run,
  { runIds, clock }: UndoPorts,
  { viewer, request }: { readonly viewer: Viewer; readonly request: UndoRequest },
): Promise<UndoAnswer> {
  const { invocations, store } = run;
  const { invocation, toolIds, page } = request;
  const { runId, owner } = store.identity();
  for (;;) {
    const attempt = attemptOf(invocations.find(invocation)?.undo);
    const operation = `${runId}/${invocation}/${attempt}`;
    const derived = await runIds.derive(
      { tenantId: owner.tenantId, actorId: UNDO_OWNER },
      operation,
    );
    // From here on nothing else runs. Another request may have claimed or released meanwhile.
    const record = invocations.find(invocation);
    const { compensation } = record?.end ?? {};
    if (!record) return { kind: "unknown_invocation" };
    // The saga of a step undoes it in this run. Only an operator can release a failed attempt.
    const isHeld =
      isHeldBySaga(record, (number) => invocations.find(number)) ||
      (record.undo?.runId === runId && record.undo.status !== "released");
    if (!compensation || isHeld) return { kind: "not_undoable" };
    if (!toolIds.includes(compensation.toolId)) return { kind: "not_allowed" };
    const { connectionIds, trace } = store.claimed() ?? {};
    // Not the workspace of the person who asks: the call changed this one.
    const { workspaceId } = record.binding ?? {};
    if (page && !isWithin(page, { connectionIds, workspaceId })) return { kind: "not_allowed" };
    if (attemptOf(record.undo) !== attempt) continue;
    const isNew = record.undo?.attempt !== attempt;
    if (isNew) begin(run, record, { attempt, runId: derived, viewer, atMs: clock.nowMs() });
    return {
      kind: "claimed",
      status: isNew ? "running" : (record.undo?.status ?? "running"),
      claim: {
        // A rotation of the root secret derives another id for an attempt that has begun.
        runId: isNew ? derived : (record.undo?.runId ?? derived),
        call: {
          toolId: compensation.toolId,
          argumentsText: JSON.stringify(compensation.args),
          undoes: { runId, invocation, part: record.part, ...(trace !== undefined && { trace }) },
        },
        ...(connectionIds && { connectionIds }),
        ...(workspaceId !== undefined && { workspaceId }),
      },
    };
  }
}

/**
 * Threat: pages of one origin and assistant share their runs, also when their tokens bind other
 * connections or another workspace. An undo would reach those of the other page.
 */
function isWithin(
  page: PageReach,
  { connectionIds = [], workspaceId }: Partial<PageReach>,
): boolean {
  const isInWorkspace = workspaceId === undefined || workspaceId === page.workspaceId;
  return isInWorkspace && connectionIds.every((id) => page.connectionIds?.includes(id) !== false);
}

interface Begun {
  readonly attempt: number;
  readonly runId: RunId;
  readonly viewer: Viewer;
  readonly atMs: number;
}

function begin(
  { invocations, notices, store }: Run,
  record: ToolInvocationRecord,
  { attempt, runId, viewer, atMs }: Begun,
): void {
  store.log.batch(() => {
    invocations.changeUndo(record.number, { attempt, runId, status: "running" });
    notices.undoStarted(record, { viewer, atMs });
  });
}

/**
 * Takes the report of the run that undoes a call. Contract: idempotent; a report that comes again,
 * or from the run of an earlier attempt, changes nothing.
 */
export function endUndo(run: Run, ports: UndoPorts, report: UndoReport): void {
  const { invocation, runId, status } = report;
  const record = run.invocations.find(invocation);
  const isAwaited = record?.undo?.runId === runId && record.undo.status === "running";
  if (isAwaited) storeEnd(run, ports, { record, status });
}

/**
 * Resolves a failed undo as an operator reported: the call is undone, or a person may try again.
 * Undefined when the undo of the call has not failed. Contract: the first report stays.
 */
export function resolveUndo(
  run: Run,
  ports: UndoPorts,
  { invocation, resolution }: { readonly invocation: number; readonly resolution: Resolution },
): "resolved" | undefined {
  const record = run.invocations.find(invocation);
  if (record?.undo?.status !== "failed") return undefined;
  const status = resolution.outcome === "committed" ? "undone" : "released";
  storeEnd(run, ports, { record, status, by: resolution.by });
  return "resolved";
}

interface Ended {
  readonly record: ToolInvocationRecord;
  readonly status: UndoReport["status"];
  /** The operator who reported it. */
  readonly by?: ActorId | undefined;
}

function storeEnd(
  { invocations, notices, outbox, store }: Run,
  { clock, keptMs }: UndoPorts,
  { record, status, by }: Ended,
): void {
  const { number, undo } = record;
  if (!undo) return;
  const atMs = clock.nowMs();
  const untilMs = (store.progress().endedMs ?? atMs) + keptMs;
  store.log.batch(() => {
    invocations.changeUndo(number, { ...undo, status, ...(status === "failed" && { untilMs }) });
    if (status === "undone") outbox.put(number);
    notices.undoEnded(record, { status, atMs, by });
  });
}
