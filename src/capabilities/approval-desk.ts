import type { ApprovalRecord, ApprovalVote } from "../protocol/approval.ts";
import type { ApprovalId } from "../protocol/ids.ts";

/** What people are to be asked. */
export type Question = Omit<
  ApprovalRecord,
  "generation" | "id" | "status" | "votes" | "edit" | "supersededBy" | "closedAtMs" | "consumedAtMs"
> & {
  /** Of the one who made these arguments what they are, if that was a person. */
  readonly vote?: ApprovalVote;
};

/**
 * The questions that one run puts to people.
 * Contract: synchronous, and always shows what is stored now: people decide while the run goes on. What is
 * written is stored together with everything that was said before it.
 */
export interface ApprovalDesk {
  /** The newest question about an invocation. */
  newest(invocation: number): ApprovalRecord | undefined;
  /** Tells whether people have refused this very payload in this run. */
  wasRejected(payload: Pick<ApprovalRecord, "toolId" | "payloadHash">): boolean;
  /** The id that the next question about an invocation will have. */
  nextId(invocation: number): ApprovalId;
  /** Asks. Contract: takes the place of the question before it, whatever became of that. */
  ask(question: Question): ApprovalRecord;
  /** Marks that the call takes an approval, which it may once however often it is tried. */
  consume(id: ApprovalId, atMs: number): void;
  /** Closes a question that nobody has answered, for the call has ended. */
  withdraw(invocation: number, atMs: number): void;
}
