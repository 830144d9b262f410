import type { ApprovalQuery } from "./approval.ts";
import type { AuditPage, AuditQuery } from "./audit.ts";
import type { Reservation, ReservationAnswer } from "./budget.ts";
import type { PolicyChange } from "./policy.ts";
import type { ApprovalSummary } from "../protocol/approval/view.ts";
import type { AuditEntry } from "../protocol/audit/entry.ts";
import type { BudgetAmounts } from "../protocol/budget/amounts.ts";
import type { PolicyPin, PolicyProposal } from "../protocol/policy/pin.ts";
import type { RunId, ActorId, TenantId } from "../protocol/identity/ids.ts";
import type { TenantNotice } from "../protocol/run/tenant-notice.ts";
import type { RunStatus } from "../protocol/run/state.ts";
import type { RunSummary } from "../protocol/run/summary.ts";
import type { ListPosition, ListPage } from "../protocol/list/page.ts";

/** A notice on its way; a run never gives a number again. */
export interface SentNotice {
  readonly seq: number;
  readonly notice: TenantNotice;
}

/**
 * Takes what a run tells the object of its tenant.
 * Contract: never throws; false when it is to be sent again. Notices come in the order of their numbers,
 * and each counts once however often it is sent.
 */
export interface TenantInbox {
  receive(runId: RunId, notices: readonly SentNotice[]): Promise<boolean>;
}

/** Which runs a caller wants to see, and may. Times in Unix milliseconds. */
export interface RunQuery {
  /** Absent: everybody's. */
  readonly viewer?: RunViewer;
  readonly status?: RunStatus;
  readonly actor?: ActorId;
  /** Started then or later. */
  readonly fromMs?: number;
  /** Started before. */
  readonly toMs?: number;
  readonly limit: number;
  readonly after?: ListPosition;
}

/** Whose runs are somebody's own. */
export interface RunViewer {
  /** Those on this person's account. */
  readonly person: ActorId;
  /** Those that it started itself, on whoever's account; absent for who acts on behalf of a person. */
  readonly actor?: ActorId;
}

/**
 * Lists the runs of a tenant.
 * Contract: newest first; a page after a place is not changed by runs that start meanwhile. It is told of
 * runs a little later than they happen. Throws when the tenant's object cannot be reached.
 */
export interface RunDirectory {
  list(tenantId: TenantId, query: RunQuery): Promise<ListPage<RunSummary>>;
}

/** What a cursor belongs to: tenant, list, viewer and filters; it is of no use anywhere else. */
export type CursorScope = readonly (string | number | boolean | null)[];

/**
 * Names a place in a list for a client to come back with.
 * Contract: `read` answers undefined for whatever was not issued for the very same scope; it touches no storage.
 */
export interface Cursors {
  issue(place: string, scope: CursorScope): Promise<string>;
  read(cursor: string, scope: CursorScope): Promise<string | undefined>;
}

/**
 * Typed RPC of a tenant's object; the capabilities that stand on it tell what each method promises.
 * Contract: names and shapes hold for one release, as those of RunMethods.
 */
export interface TenantMethods {
  policy(): Promise<PolicyPin | undefined>;
  change(proposal: PolicyProposal): Promise<PolicyChange>;
  reserve(reservation: Reservation): Promise<ReservationAnswer>;
  settle(id: string, used: BudgetAmounts): Promise<void>;
  release(id: string): Promise<void>;
  receive(runId: RunId, sent: readonly SentNotice[]): Promise<void>;
  record(entry: AuditEntry): Promise<void>;
  runs(query: RunQuery): Promise<ListPage<RunSummary>>;
  approvals(query: ApprovalQuery): Promise<ListPage<ApprovalSummary>>;
  audit(query: AuditQuery): Promise<AuditPage>;
}
