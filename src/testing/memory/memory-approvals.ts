import type { ApprovalRecords } from "../../run/approvals/run-approvals.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";

/** Keeps the approvals of a run in memory, oldest first. */
export class MemoryApprovals implements ApprovalRecords {
  #records: readonly ApprovalRecord[] = [];

  put(record: ApprovalRecord): void {
    const { invocation, generation } = record;
    const others = this.#records.filter((other) => !isAbout(other, invocation, generation));
    this.#records = [...others, record];
  }

  find(invocation: number, generation: number): ApprovalRecord | undefined {
    return this.#records.find((record) => isAbout(record, invocation, generation));
  }

  newest(invocation: number): ApprovalRecord | undefined {
    return this.#records
      .filter((record) => record.invocation === invocation)
      .toSorted((one, other) => one.generation - other.generation)
      .at(-1);
  }

  pending(): readonly ApprovalRecord[] {
    return this.#records
      .filter(({ status }) => status === "pending")
      .toSorted((one, other) => one.invocation - other.invocation);
  }

  all(): readonly ApprovalRecord[] {
    return this.#records;
  }

  countAsked(exceptInvocation: number): number {
    const asked = this.#records.map(({ invocation }) => invocation);
    return new Set(asked.filter((invocation) => invocation !== exceptInvocation)).size;
  }

  hasRejected({ toolId, payloadHash }: Pick<ApprovalRecord, "toolId" | "payloadHash">): boolean {
    return this.#records.some(
      (record) =>
        record.status === "rejected" &&
        record.toolId === toolId &&
        record.payloadHash === payloadHash,
    );
  }
}

function isAbout(record: ApprovalRecord, invocation: number, generation: number): boolean {
  return record.invocation === invocation && record.generation === generation;
}
