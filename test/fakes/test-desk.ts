import type { ApprovalDesk, NewRequest } from "../../src/capabilities/approval.ts";
import type { ApprovalRecord } from "../../src/protocol/approval/record.ts";
import { approvalIdOf, readApprovalId } from "../../src/protocol/approval/id.ts";
import { takeVote } from "../../src/protocol/approval/check-vote.ts";
import type { ApprovalId, RunId } from "../../src/protocol/identity/ids.ts";

/** Approvals of a run, with a test as the approvers. */
export class TestDesk implements ApprovalDesk {
  readonly #records = new Map<number, ApprovalRecord[]>();

  newest(invocation: number): ApprovalRecord | undefined {
    return this.#records.get(invocation)?.at(-1);
  }

  nextId(invocation: number): ApprovalId {
    const generation = (this.newest(invocation)?.generation ?? 0) + 1;
    return approvalIdOf(`run_${"0".repeat(32)}_${"0".repeat(32)}` as RunId, invocation, generation);
  }

  countOpen(exceptInvocation: number): number {
    const newest = [...this.#records.keys()].map((invocation) => this.newest(invocation));
    return newest.filter(
      (record) => record?.status === "pending" && record.invocation !== exceptInvocation,
    ).length;
  }

  wasRejected({ toolId, payloadHash }: Pick<ApprovalRecord, "toolId" | "payloadHash">): boolean {
    return [...this.#records.values()]
      .flat()
      .some(
        (record) =>
          record.status === "rejected" &&
          record.toolId === toolId &&
          record.payloadHash === payloadHash,
      );
  }

  ask({ vote, ...request }: NewRequest): ApprovalRecord {
    const { invocation } = request;
    const id = this.nextId(invocation);
    const before = this.newest(invocation);
    if (before) this.replace({ ...before, status: "superseded", supersededBy: id });
    const generation = (before?.generation ?? 0) + 1;
    const open = { ...request, id, generation, status: "pending" as const, votes: [] };
    const record = vote ? takeVote(open, vote) : open;
    this.#records.set(invocation, [...(this.#records.get(invocation) ?? []), record]);
    return record;
  }

  consume(id: ApprovalId, consumedAtMs: number): void {
    const { invocation = 0 } = readApprovalId(id) ?? {};
    this.change(invocation, { consumedAtMs });
  }

  withdraw(invocation: number, closedAtMs: number): void {
    if (this.newest(invocation)?.status !== "pending") return;
    this.change(invocation, { status: "withdrawn", closedAtMs });
  }

  /** Changes the newest approval of an invocation. */
  change(invocation: number, change: Partial<ApprovalRecord>): void {
    const newest = this.newest(invocation);
    if (!newest) throw new Error("nobody was asked");
    this.replace({ ...newest, ...change });
  }

  /** Stores a record instead of the newest one of its invocation. */
  replace(record: ApprovalRecord): void {
    const others = this.#records.get(record.invocation)?.slice(0, -1) ?? [];
    this.#records.set(record.invocation, [...others, record]);
  }
}
