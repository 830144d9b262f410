import { Readable } from "node:stream";
import { verifyChain } from "../../../cli/audit/verify-chain.ts";
import type { AuditRecord } from "../../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import { sleep } from "../sleep.ts";
import type { Target } from "../client/target.ts";

/** Longest time until every notice of an ended run arrives at its tenant. Unit: milliseconds. */
const PATIENCE_MS = 100_000;
const POLL_MS = 1_000;
/** Longest time of one export of the log. Unit: milliseconds. */
const EXPORT_TIMEOUT_MS = 90_000;
/** A run sends a notice again five seconds after its end, if the answer was lost. */
const REPEATED_WITHIN_MS = 6_000;

/** Records of a tenant after its runs. */
export interface TenantEvidence {
  readonly runIds: readonly string[];
  readonly entries: readonly AuditEntry[];
  /** Approvals that the queue shows as pending. */
  readonly queue: readonly { readonly runId: string }[];
}

/**
 * Compares the audit log and the approval queue of a tenant with its ended runs, once the log holds
 * all of them. Looks again after the time in which a run repeats a notice. Returns each
 * contradiction as text. Contract: never throws.
 */
export async function verifyTenant(
  target: Target,
  runIds: readonly string[],
): Promise<readonly string[]> {
  const found = await lookUntilWhole(target, runIds);
  if (found.length > 0) return found;
  await sleep(REPEATED_WITHIN_MS);
  return lookUntilWhole(target, runIds);
}

async function lookUntilWhole(
  target: Target,
  runIds: readonly string[],
): Promise<readonly string[]> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await lookAt(target, runIds).catch((error: unknown) => [String(error)]);
    if (found.length === 0 || Date.now() > deadlineMs) return found;
    await sleep(POLL_MS);
  }
}

async function lookAt(target: Target, runIds: readonly string[]): Promise<readonly string[]> {
  const { entries, problems } = await readAuditLog(target);
  if (problems.length > 0) return problems;
  const pending = await get(target, "/v1/approvals?limit=100");
  const { approvals } = await pending.json<{ readonly approvals: TenantEvidence["queue"] }>();
  return [...findContradictions({ runIds, entries, queue: approvals })];
}

/** An exported audit log. */
interface ReadAuditLog {
  readonly entries: readonly AuditEntry[];
  /** Why it does not hold as a chain. */
  readonly problems: readonly string[];
}

/** Exports the audit log of a tenant and verifies it. Fails: throws when it cannot be read. */
export async function readAuditLog(target: Target): Promise<ReadAuditLog> {
  const answer = await get(target, "/v1/audit?format=jsonl");
  const text = await answer.text();
  const lines = text.trimEnd().split("\n");
  const verdict = await verifyChain(Readable.from(lines), {
    head: answer.headers.get("x-audit-head") ?? "",
    keys: [answer.headers.get("x-audit-key") ?? ""],
  });
  if (verdict.kind === "broken") {
    return { entries: [], problems: [`audit log, line ${verdict.line}: ${verdict.why}`] };
  }
  const entries = lines
    .map((line) => JSON.parse(line) as Partial<AuditRecord>)
    .flatMap(({ entry }) => (entry ? [entry] : []));
  return { entries, problems: [] };
}

async function get({ url, token }: Target, path: string): Promise<Response> {
  const answer = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(EXPORT_TIMEOUT_MS),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return answer;
}

/** Every run starts and ends once in the log, and so does every approval. */
export function* findContradictions({ runIds, entries, queue }: TenantEvidence): Generator<string> {
  const counts = new Map<string, number>();
  for (const { action, runId, approvalId } of entries) {
    const name = `${action} of ${approvalId ?? runId}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const verified = new Set<string | undefined>(runIds);
  for (const runId of runIds) {
    for (const action of ["run.started", "run.ended"]) {
      const count = counts.get(`${action} of ${runId}`) ?? 0;
      if (count !== 1) yield `${count} times ${action} of ${runId}`;
    }
  }
  const ids = entries.flatMap(({ runId, approvalId }) =>
    approvalId !== undefined && verified.has(runId) ? [approvalId] : [],
  );
  for (const id of new Set(ids)) {
    // A question ends by its answer.
    for (const ends of [["requested"], ["closed", "answered"]]) {
      const count = ends.reduce(
        (sum, end) => sum + (counts.get(`approval.${end} of ${id}`) ?? 0),
        0,
      );
      if (count !== 1) yield `${count} times approval.${ends.join(" or ")} of ${id}`;
    }
    const consumed = counts.get(`approval.consumed of ${id}`) ?? 0;
    if (consumed > 1) yield `${consumed} times approval.consumed of ${id}`;
  }
  for (const { runId } of queue) {
    if (verified.has(runId)) yield `the queue shows an approval of ${runId}, which has ended`;
  }
}
