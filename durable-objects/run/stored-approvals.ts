import { wasAsked } from "../../src/protocol/approval/count-people.ts";
import type { ApprovalRecord } from "../../src/protocol/approval/record.ts";
import type { ApprovalRecords } from "../../src/run/approvals/run-approvals.ts";
import type { RunTables } from "./run-tables.ts";

/**
 * The approvals of a run in SQLite, with votes and signed tokens.
 * Ownership: one per run object; the only writer of the `approvals` table.
 */
export class StoredApprovals implements ApprovalRecords {
  readonly #sql: SqlStorage;
  readonly #tables: RunTables;

  constructor(sql: SqlStorage, tables: RunTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  put(record: ApprovalRecord): void {
    const body = JSON.stringify(record);
    this.#tables.create("approvals");
    this.#tables.grow(body.length);
    this.#sql.exec(
      `INSERT OR REPLACE INTO approvals (invocation, generation, status, tool_id, payload_hash, body)
       VALUES (?, ?, ?, ?, ?, ?)`,
      record.invocation,
      record.generation,
      record.status,
      record.toolId,
      record.payloadHash,
      body,
    );
  }

  find(invocation: number, generation: number): ApprovalRecord | undefined {
    return this.#read("WHERE invocation = ? AND generation = ?", invocation, generation)[0];
  }

  newest(invocation: number): ApprovalRecord | undefined {
    return this.#read("WHERE invocation = ? ORDER BY generation DESC LIMIT 1", invocation)[0];
  }

  pending(): readonly ApprovalRecord[] {
    return this.#read("WHERE status = 'pending' ORDER BY invocation");
  }

  hasRejected({ toolId, payloadHash }: Pick<ApprovalRecord, "toolId" | "payloadHash">): boolean {
    const where = "WHERE status = 'rejected' AND tool_id = ? AND payload_hash = ?";
    return this.#read(where, toolId, payloadHash).some(({ asks }) => asks !== "raise");
  }

  all(): readonly ApprovalRecord[] {
    return this.#read("ORDER BY invocation, generation");
  }

  countAsked(exceptInvocation: number): number {
    return new Set(
      this.#read("WHERE invocation != ?", exceptInvocation)
        .filter(wasAsked)
        .map(({ invocation }) => invocation),
    ).size;
  }

  #read(where: string, ...values: readonly SqlStorageValue[]): readonly ApprovalRecord[] {
    if (!this.#tables.has("approvals")) return [];
    return this.#sql
      .exec<{ body: string }>(`SELECT body FROM approvals ${where}`, ...values)
      .toArray()
      .map(({ body }) => JSON.parse(body) as ApprovalRecord);
  }
}
