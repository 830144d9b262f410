import type {
  ApprovalRecord,
  ApprovalVote,
  ApprovalToken,
  ApprovalStatus,
} from "../protocol/approval/record.ts";
import type { ApprovalId, ActorId, TenantId } from "../protocol/identity/ids.ts";
import type { ApprovalPattern } from "../protocol/approval/requirement.ts";
import type { ApprovalSummary } from "../protocol/approval/view.ts";
import type { ListPosition, ListPage } from "../protocol/list/page.ts";

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
 * Contract: synchronous, and always shows what is stored now: people decide while the run goes on.
 * What is written is stored together with everything that was said before it.
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

/**
 * Signs what one person's approval is worth, and reads it back.
 * Contract: `read` answers undefined for whatever this deployment did not sign; it does not look at
 * times.
 */
export interface ApprovalSigner {
  sign(token: ApprovalToken): Promise<string>;
  read(signed: string): Promise<ApprovalToken | undefined>;
}

/** Which questions a caller wants to see, and may. */
export interface ApprovalQuery {
  /** Who looks. */
  readonly viewer: ApprovalViewer;
  readonly status: ApprovalStatus;
  readonly pattern?: ApprovalPattern;
  readonly tool?: string;
  /** Only those that were asked on the viewer's account. */
  readonly isMine: boolean;
  /** Only those that the viewer may decide. */
  readonly isDecidable: boolean;
  readonly sort: "expiry" | "newest";
  readonly limit: number;
  readonly after?: ListPosition;
}

/** Who looks at the queue. */
export interface ApprovalViewer {
  readonly person: ActorId;
  readonly roles: readonly string[];
  /** A person, for themself; nobody else decides anything. */
  readonly decides: boolean;
  /** Otherwise: what was asked on the viewer's account, and what its roles fit. */
  readonly seesAll: boolean;
}

/**
 * Lists what people of a tenant are asked.
 * Contract: it is told of questions and answers a little later than they happen, so the run alone
 * says whether an answer still counts; a question whose time is up is shown as expired at once.
 * Throws when the tenant's object cannot be reached.
 */
export interface ApprovalQueue {
  list(tenantId: TenantId, query: ApprovalQuery): Promise<ListPage<ApprovalSummary>>;
}
