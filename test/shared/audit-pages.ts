import type { AuditRecord } from "../../src/protocol/audit/chain.ts";
import type { SignedCheckpoint } from "../../src/protocol/audit/checkpoint.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import { expect, vi } from "vitest";
import { chat, runIdOf, send, type Caller } from "./worker.ts";

/** A page of the audit log, as the API answers it. */
export interface AuditPage {
  readonly records: readonly AuditRecord[];
  readonly checkpoint?: SignedCheckpoint;
  readonly next?: string;
}

/** Asks for a page of the audit log, or for an export of it. */
export function askAudit(query = "", caller: Caller = "archive"): Promise<Response> {
  return send(`/v1/audit${query}`, { caller });
}

/** Reads a page of the audit log. Fails: throws on a refusal. */
export async function readAudit(query: string, caller: Caller = "archive"): Promise<AuditPage> {
  const response = await askAudit(query, caller);
  if (response.status !== 200) throw new Error(await response.text());
  return response.json<AuditPage>();
}

/** Reads what is recorded of a run, once its end is. */
export async function recordsOf(
  runId: string,
  caller: Caller = "archive",
): Promise<readonly AuditEntry[]> {
  return vi.waitFor(
    async () => {
      const { records } = await readAudit(`?run=${runId}&limit=100`, caller);
      const entries = records.map(({ entry }) => entry);
      expect(entries.at(-1)?.action).toBe("run.ended");
      return entries;
    },
    { timeout: 20_000 },
  );
}

/** Runs calls, one step each, and answers what was recorded. */
export async function recorded(...calls: readonly { name: string; args: string }[]) {
  const steps = calls.map((call) => ({ calls: [call] }));
  const response = await chat(steps, "archive");
  await response.text();
  return recordsOf(runIdOf(response));
}
