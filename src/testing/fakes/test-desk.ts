import { RunApprovals } from "../../run/approvals/run-approvals.ts";
import { ApprovalNotices } from "../../run/approvals/notices.ts";
import { MemoryApprovals } from "../memory/memory-approvals.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { RunId } from "../../protocol/identity/ids.ts";

const RUN_ID = `run_${"0".repeat(32)}_${"0".repeat(32)}` as RunId;

/** The approvals of a run, with a test as the approvers: it may store any record. */
export class TestDesk extends RunApprovals {
  readonly #approvals: MemoryApprovals;

  constructor(approvals = new MemoryApprovals()) {
    super({
      approvals,
      invocations: { answer: () => {}, edit: () => {} },
      journal: { append: () => {}, flush: () => {} },
      notices: new ApprovalNotices({ notify: () => {} }, RUN_ID),
      runId: RUN_ID,
    });
    this.#approvals = approvals;
  }

  /** All requests, the oldest first. */
  get records(): readonly ApprovalRecord[] {
    return this.#approvals.all();
  }

  /** Changes the newest approval of an invocation. */
  change(invocation: number, change: Partial<ApprovalRecord>): void {
    const newest = this.newest(invocation);
    if (!newest) throw new Error("nobody was asked");
    this.replace({ ...newest, ...change });
  }

  /** Stores a record instead of the newest one of its invocation. */
  replace(record: ApprovalRecord): void {
    this.#approvals.put(record);
  }
}
