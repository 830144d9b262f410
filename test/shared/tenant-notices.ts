import { runInDurableObject } from "cloudflare:test";
import type { TenantObject } from "../../durable-objects/tenant/tenant-object.ts";
import type { AuditPage } from "../../src/capabilities/audit.ts";
import type { SentNotice } from "../../src/capabilities/tenant.ts";
import { AuditBook } from "../../durable-objects/tenant/records/audit-book.ts";
import { AuditLog } from "../../durable-objects/tenant/records/audit-log.ts";
import { composeTenant, composeTenants } from "../../src/compose/tenant.ts";
import type { RawEnv } from "../../src/env.ts";
import { PATTERN_DEFAULTS } from "../../src/protocol/approval/requirement.ts";
import type { ApprovalSummary } from "../../src/protocol/approval/view.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunId, TenantId } from "../../src/protocol/identity/ids.ts";
import type { RunSummary } from "../../src/protocol/run/summary.ts";
import { bindings } from "./worker.ts";

/** Returns a stub of a tenant's object. */
export function tenantOf(tenant: string): DurableObjectStub<TenantObject> {
  const { TENANTS } = bindings;
  return TENANTS.get(TENANTS.idFromName(tenant)) as unknown as DurableObjectStub<TenantObject>;
}

/** Sends notices of a run to its tenant's object, as the run's outbox does. */
export function tell(tenant: string, runId: string, sent: readonly SentNotice[]): Promise<void> {
  return tenantOf(tenant).receive(runId as RunId, sent);
}

/** Returns all records of a tenant's audit log. */
export function auditOf(tenant: string): Promise<AuditPage> {
  const { trail } = composeTenants(bindings.TENANTS);
  return trail.read(tenant as TenantId, { after: 0, limit: 5_000 });
}

/** Works on the audit log of a tenant inside its object, with other parts if a test names them. */
export function withAuditBook<Made>(
  tenant: string,
  parts: Partial<ConstructorParameters<typeof AuditBook>[0]>,
  work: (book: AuditBook, storage: DurableObjectStorage) => Promise<Made>,
): Promise<Made> {
  return runInDurableObject(tenantOf(tenant), (_object, { storage, id }) => {
    const log = new AuditLog(storage);
    const ports = composeTenant(bindings as unknown as RawEnv);
    return work(new AuditBook({ ...ports, storage, log, owner: id.toString(), ...parts }), storage);
  });
}

/** Reads a tenant's tables. */
export function tenantRows(
  tenant: string,
  sql: string,
): Promise<readonly Record<string, SqlStorageValue>[]> {
  return runInDurableObject(tenantOf(tenant), (_object, { storage }) =>
    storage.sql.exec(sql).toArray(),
  );
}

/** Returns a time within the retention of every notice of a test. */
export function isoAt(offsetMs = 0): string {
  return new Date(Date.now() + offsetMs).toISOString();
}

/** Makes the notice of a run's entry in the run list. */
export function runNotice(seq: number, run: Partial<RunSummary> = {}): SentNotice {
  const summary = {
    runId: "run_1" as RunId,
    status: "running",
    model: "scripted",
    actorId: "user:mira",
    steps: 0,
    toolCalls: 0,
    createdAt: isoAt(),
    ...run,
  } as RunSummary;
  return { seq, notice: { type: "run", run: summary } };
}

/** Makes the notice of an audit entry. */
export function auditNotice(seq: number, entry: Partial<AuditEntry> = {}): SentNotice {
  const fact = { action: "run.started", at: isoAt(), ...entry } as AuditEntry;
  return { seq, notice: { type: "audit", entry: fact } };
}

/** Makes the notice of an approval. */
export function approvalNotice(seq: number, approval: Partial<ApprovalSummary> = {}): SentNotice {
  const summary = {
    approvalId: `appr_${seq}`,
    runId: "run_1",
    toolCallId: "call_1",
    toolId: "lab__send_mail",
    toolVersion: "1.0.0",
    title: "Sends a mail",
    riskClass: "HIGH_RISK_EXTERNAL",
    status: "pending",
    required: 1,
    approvals: 0,
    requirements: [{ ...PATTERN_DEFAULTS.operator_review, approvals: 0 }],
    requestedBy: "user:mira",
    requestedAt: isoAt(),
    expiresAt: isoAt(3_600_000),
    ...approval,
  } as ApprovalSummary;
  return { seq, notice: { type: "approval", approval: summary } };
}
