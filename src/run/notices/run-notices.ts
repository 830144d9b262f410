import type { AuditEntry } from "../../protocol/audit/entry.ts";
import { DENIALS, type EscalationReason } from "../../protocol/escalation/escalation.ts";
import type { ActorId } from "../../protocol/identity/ids.ts";
import { actorsOf } from "../../protocol/identity/principal.ts";
import type { ConversationPlace } from "../../protocol/run/tenant-notice.ts";
import type { Resolution, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { VerificationRecord } from "../../protocol/outcome/verification.ts";
import type { Viewer } from "../../protocol/identity/viewer.ts";
import { describeAwaited } from "../outcomes/awaited.ts";
import type { ApprovalRecords } from "../approvals/run-approvals.ts";
import type { MeasuredRun, MeasureRun } from "../../protocol/metric/measures.ts";
import { summariseRun } from "./summarise-run.ts";
import type { RefusalTally } from "./refusal-tally.ts";
import type { RunInvocations } from "../invocations.ts";
import type { ClaimedRun, StoredRun } from "../stored-run.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import { invocationIdOf } from "../../protocol/invocation/id.ts";

export interface NoticePorts extends Pick<StoredRun, "store"> {
  readonly outbox: Pick<StoredRun["outbox"], "notify">;
  readonly invocations: RunInvocations;
  readonly refusals: RefusalTally;
  /** Counts the run once it has ended. Absent: the deployment has no metrics. */
  readonly metrics?: RunMetrics | undefined;
}

/** What counting a run needs beside its notices. */
export interface RunMetrics {
  readonly measure: MeasureRun;
  readonly mutates: MeasuredRun["mutates"];
  readonly currencyOf: MeasuredRun["currencyOf"];
  readonly pricesOf: (claim: ClaimedRun, model: string) => ReturnType<MeasuredRun["pricesOf"]>;
  readonly approvals: Pick<ApprovalRecords, "all">;
}

/**
 * Writes the notices of a run about itself, for the object of its tenant.
 * Contract: synchronous. A notice describes the rows that are stored at the call, and commits with
 * the writes of the caller.
 */
export class RunNotices {
  readonly #ports: NoticePorts;

  constructor(ports: NoticePorts) {
    this.#ports = ports;
  }

  /** The run has started. */
  started(): void {
    const { createdMs } = this.#ports.store.identity();
    this.updated();
    const { id, hash, revision } = this.#claim().assistant ?? {};
    this.#audit({
      action: "run.started",
      at: toIso(createdMs),
      ...this.#actors(),
      ...(id !== undefined && { assistantId: id }),
      ...(hash !== undefined && { assistantHash: hash }),
      ...(revision !== undefined && { assistantRevision: revision }),
    });
  }

  /** The status, the title or the unknown outcomes of the run have changed. */
  updated(): void {
    const { invocations, outbox, store } = this.#ports;
    const { runId, principal } = this.#claim();
    const isOpen = store.progress().reason === null && store.incarnations().stop === null;
    const awaiting = isOpen ? invocations.awaitingOperator() : [];
    const failedUndos = invocations.all().filter(({ undo }) => undo?.status === "failed");
    const mismatches = store.progress().reason === null ? [] : invocations.untoldMismatches();
    const lookedAt = [...awaiting, ...failedUndos, ...mismatches];
    const outcomes = describeAwaited({ runId, principal, calls: invocations.all() }, lookedAt);
    const run = summariseRun(this.#ports, this.#claim());
    const place = this.#place();
    const told = outcomes.length > 0 && { outcomes };
    outbox.notify({ type: "run", run, ...told, ...(place && { conversation: place }) });
  }

  /** Everything that was said in the run is deleted. The audit log keeps its records. */
  erased(): void {
    this.#ports.outbox.notify({ type: "erased" });
  }

  /** A call has ended. Repeated refusals are counted, and reported when the run waits or ends. */
  callEnded(entry: AuditEntry, usedNames: readonly string[] = []): void {
    const { outbox, refusals } = this.#ports;
    if (!refusals.isRecordedInFull(entry)) return;
    outbox.notify({ type: "audit", entry, ...(usedNames.length > 0 && { usedNames }) });
  }

  /** The run waits. */
  waits(): void {
    this.updated();
    this.#reportRefusals();
  }

  /** A caller cancels the run. */
  cancelled(viewer: Pick<Viewer, "actor" | "person">, atMs: number): void {
    this.#audit({ action: "run.cancelled", at: toIso(atMs), ...actorsOfViewer(viewer) });
  }

  /** An operator reads the raw output of a call. */
  outputRead(record: ToolInvocationRecord, viewer: Viewer, atMs: number): void {
    const who = actorsOfViewer(viewer);
    this.#audit({ action: "output.read", at: toIso(atMs), ...who, ...nameCall(record) });
  }

  /** The run has ended. */
  ended(): void {
    const { createdMs } = this.#ports.store.identity();
    const { reason, error, endedMs } = this.#ports.store.progress();
    this.updated();
    this.#reportRefusals();
    this.#audit({
      action: "run.ended",
      at: toIso(endedMs ?? createdMs),
      ...this.#actors(),
      ...(reason !== null && { decision: reason }),
      ...(error !== null && { reason: error.code }),
      ...(endedMs !== null && { durationMs: endedMs - createdMs }),
    });
    this.#reportMeasures();
  }

  /** An unknown outcome was resolved by an operator, or expired. */
  outcomeResolved(record: ToolInvocationRecord, { outcome, by, atMs }: Resolution): void {
    this.updated();
    this.#audit({
      action: "outcome.resolved",
      at: toIso(atMs),
      ...(by !== undefined && { actorId: by }),
      ...nameCall(record),
      decision: outcome,
    });
  }

  /** Somebody asked to undo a call. */
  undoStarted(
    record: ToolInvocationRecord,
    { viewer, atMs }: { readonly viewer: Viewer; readonly atMs: number },
  ): void {
    this.#audit({
      action: "undo.started",
      at: toIso(atMs),
      ...actorsOfViewer(viewer),
      ...nameCall(record),
    });
  }

  /** An attempt to undo a call has ended, or an operator reported what it did. */
  undoEnded(
    record: ToolInvocationRecord,
    {
      status,
      atMs,
      by,
    }: { readonly status: string; readonly atMs: number; readonly by?: ActorId | undefined },
  ): void {
    this.updated();
    this.#audit({
      action: "undo.ended",
      at: toIso(atMs),
      ...(by !== undefined && { actorId: by }),
      ...nameCall(record),
      decision: status,
    });
  }

  /** The state after a call was read, or nobody could. Operators see a mismatch after the end. */
  verified(record: ToolInvocationRecord, { outcome, reason, atMs = 0 }: VerificationRecord): void {
    const hasEnded = this.#ports.store.progress().reason !== null;
    if (hasEnded && outcome === "mismatch") this.updated();
    this.#audit({
      action: "verification.ended",
      at: toIso(atMs),
      ...this.#actors(),
      ...nameCall(record),
      ...(outcome !== undefined && { decision: outcome }),
      ...(reason !== undefined && { reason }),
      ...(outcome === "unknown" && escalate("verification_unknown", record)),
    });
  }

  /** An operator reviewed a mismatch. */
  mismatchReviewed(record: ToolInvocationRecord, by: ActorId, atMs: number): void {
    this.updated();
    const action = "verification.reviewed";
    this.#audit({ action, at: toIso(atMs), actorId: by, ...nameCall(record) });
  }

  #reportRefusals(): void {
    for (const counted of this.#ports.refusals.take()) {
      const whose = counted.action ? {} : this.#actors();
      const isDenied = DENIALS.has(counted.outcome);
      const escalation = isDenied && { escalation: "repeated_refusals" as const };
      this.#audit({ action: "calls.refused", ...whose, ...counted, ...escalation });
    }
  }

  #reportMeasures(): void {
    const { invocations, metrics, outbox, refusals, store } = this.#ports;
    const { reason, endedMs, usage, steps, facts } = store.progress();
    if (!metrics || reason === null) return;
    const { model, createdMs } = store.identity();
    const claim = this.#claim();
    const numbers = metrics.measure({
      reason,
      durationMs: (endedMs ?? createdMs) - createdMs,
      model,
      modelCalls: store.call() ? 0 : steps,
      usage,
      usedByOthers: facts.usedByOthers ?? {},
      assistantId: claim.assistant?.id,
      calls: invocations.all(),
      approvals: metrics.approvals.all(),
      mismatches: refusals.turnedAway("SIGNATURE_MISMATCH"),
      mutates: metrics.mutates,
      currencyOf: metrics.currencyOf,
      pricesOf: (id) => metrics.pricesOf(claim, id),
    });
    outbox.notify({ type: "measures", ...numbers });
  }

  #audit(entry: AuditEntry): void {
    const { runId } = this.#ports.store.identity();
    const { pin } = this.#ports.store.progress().facts;
    const policy = pin && { policyHash: pin.hash, policyRevision: pin.revision };
    this.#ports.outbox.notify({ type: "audit", entry: { ...entry, runId, ...policy } });
  }

  /** Where the tenant's object lists the run as a turn. */
  #place(): ConversationPlace | undefined {
    const { call, workflowId, assistant } = this.#claim();
    const { runId, owner } = this.#ports.store.identity();
    if (call) return undefined;
    const { origin } = owner;
    const assistantId = owner.assistantId ?? assistant?.id;
    return {
      conversationId: workflowId ?? runId,
      ...(origin !== undefined && { origin }),
      ...(assistantId !== undefined && { assistantId }),
    };
  }

  #actors(): ReturnType<typeof actorsOf> {
    return actorsOf(this.#claim().principal);
  }

  #claim(): ClaimedRun {
    const claim = this.#ports.store.claimed();
    if (!claim) throw new Error("the run has shrunk");
    return claim;
  }
}

function actorsOfViewer({
  actor,
  person,
}: Pick<Viewer, "actor" | "person">): ReturnType<typeof actorsOf> {
  return actorsOf({ actorId: actor, subjectId: person === actor ? undefined : person });
}

function escalate(
  escalation: EscalationReason,
  { binding }: ToolInvocationRecord,
): Partial<AuditEntry> {
  if (!binding) return { escalation };
  const { owner: toolOwner, title: toolTitle } = binding;
  return { escalation, toolOwner, ...(toolTitle !== undefined && { toolTitle }) };
}

function nameCall({ number, name, binding }: ToolInvocationRecord): Partial<AuditEntry> {
  return {
    invocationId: invocationIdOf(number),
    toolId: name,
    ...(binding && { toolVersion: binding.version, payloadHash: binding.payloadHash }),
  };
}
