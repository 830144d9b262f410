import type {
  ApprovalRecord,
  ApprovalVote,
  ApprovalToken,
  ApprovalStatus,
} from "../protocol/approval/record.ts";
import type { ApprovalId, ActorId, TenantId } from "../protocol/identity/ids.ts";
import type { ApprovalPattern } from "../protocol/approval/requirement.ts";
import type { ApprovalSummary } from "../protocol/approval/view.ts";
import type { AskedRaise } from "../protocol/budget/raise.ts";
import type { CallFilters, ListPosition, ListPage } from "../protocol/list/page.ts";
import type { OpenApprovalLimits } from "../protocol/policy/limits.ts";

/** A new approval request. */
export type NewRequest = Omit<
  ApprovalRecord,
  | "generation"
  | "id"
  | "status"
  | "votes"
  | "edit"
  | "answer"
  | "supersededBy"
  | "supersededBecause"
  | "withdrawnBecause"
  | "closedAtMs"
  | "consumedAtMs"
> & {
  /** The vote of the approver who edited the arguments, or of a consent that lasts. */
  readonly vote?: ApprovalVote;
};

/**
 * The approval requests of one run.
 * Contract: synchronous; always shows what is stored now, because people decide while the run goes
 * on. What is written is stored together with everything that the run wrote before.
 */
export interface ApprovalDesk {
  /** Finds the newest request about an invocation. */
  newest(invocation: number): ApprovalRecord | undefined;
  /** Tells whether people rejected exactly this payload in this run. */
  wasRejected(payload: Pick<ApprovalRecord, "toolId" | "payloadHash">): boolean;
  /** Counts the requests that wait for people, except those about an invocation. */
  countOpen(exceptInvocation: number): number;
  /** Counts the other invocations about which people were asked in this run. */
  countAsked(exceptInvocation: number): number;
  /** Lists the raises of the run's limits that people were asked for, and what they answered. */
  raises(): readonly AskedRaise[];
  /** Tells the id of the next request about an invocation. */
  nextId(invocation: number): ApprovalId;
  /** Requests approval. Contract: replaces the request before it, whatever its status. */
  ask(request: NewRequest): ApprovalRecord;
  /**
   * Marks an approval as used by its call. Contract: one approval serves one call, retries
   * included.
   */
  consume(id: ApprovalId, atMs: number): void;
  /** Notes that a call goes on with its answer. Contract: a second call changes nothing. */
  takeAnswer(invocation: number, atMs: number): void;
  /** Closes an open request, because its call has ended. */
  withdraw(invocation: number, atMs: number): void;
}

/**
 * Signs the token of one person's approval, and reads such a token.
 * Contract: `read` answers undefined for a token that this deployment did not sign; it ignores
 * expiry.
 */
export interface ApprovalSigner {
  sign(token: ApprovalToken): Promise<string>;
  read(signed: string): Promise<ApprovalToken | undefined>;
}

/** A place among the approvals of a tenant that wait for people. */
export interface ApprovalPlace {
  readonly approvalId: ApprovalId;
  /** The person on whose account the run is. */
  readonly requester: ActorId;
  readonly limits: OpenApprovalLimits;
}

export type PlaceAnswer = "taken" | "actor_full" | "tenant_full" | "unavailable";

/**
 * Limits the approvals that wait for people, over all runs of a tenant.
 * Threat: one caller starts hundreds of runs, each of which asks people about a call.
 * Contract: never throws. Counting and taking are one step, so concurrent runs do not exceed a
 * limit together. A request takes the place of an earlier one about the same call. A place lapses
 * after five minutes unless the run reports its approval; then it is free when the approval closes.
 */
export interface ApprovalPlaces {
  take(place: ApprovalPlace): Promise<PlaceAnswer>;
}

/** Which approval requests a caller wants to see, and may see. */
export interface ApprovalQuery extends CallFilters {
  /** Who reads the queue. */
  readonly viewer: ApprovalViewer;
  readonly status: ApprovalStatus;
  readonly pattern?: ApprovalPattern | undefined;
  /** Only requests about the viewer's own runs. */
  readonly isMine: boolean;
  /** Only those that the viewer may decide. */
  readonly isDecidable: boolean;
  readonly sort: "expiry" | "newest";
  readonly limit: number;
  readonly after?: ListPosition | undefined;
}

/** Who reads the queue, and what that viewer may see. */
export interface ApprovalViewer {
  readonly person: ActorId;
  /** Present for an actor that acts for the person: it sees the runs that it started. */
  readonly delegate?: ActorId;
  readonly roles: readonly string[];
  /** The viewer is a person who acts for themself; nobody else decides. */
  readonly decides: boolean;
  /** Without it: requests about the viewer's own runs, and requests that fit the viewer's roles. */
  readonly seesAll: boolean;
}

/**
 * Lists the approval requests of a tenant.
 * Contract: runs report requests and votes a little later than they happen, so only the run decides
 * whether a vote still counts. A request whose time is up is shown as expired at once. Throws when
 * the tenant's object cannot be reached.
 */
export interface ApprovalQueue {
  list(tenantId: TenantId, query: ApprovalQuery): Promise<ListPage<ApprovalSummary>>;
}
