import type { TenantMethods } from "../../../src/capabilities/tenant.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";

/** A record to add. A repeated request adds it once. */
export interface AuditFill {
  readonly runId: string;
  /** Number of the record in its run, from 1. */
  readonly seq: number;
  /** Length of text that compresses badly. */
  readonly chars: number;
}

/** Tells a tenant's object of a record, as the outbox of a run does. */
export async function fillAudit(
  tenant: Pick<TenantMethods, "receive">,
  { runId, seq, chars }: AuditFill,
): Promise<void> {
  const bytes = crypto.getRandomValues(new Uint8Array(chars / 2));
  const noise = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const entry = {
    action: "policy.changed",
    at: new Date().toISOString(),
    reason: `filled ${seq}`,
    input: { noise },
  } as const;
  await tenant.receive(runId as RunId, [{ seq, notice: { type: "audit", entry } }]);
}
