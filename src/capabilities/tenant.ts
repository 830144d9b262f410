import type { ApprovalPlace, ApprovalQuery, PlaceAnswer } from "./approval.ts";
import type { AssistantChange, AssistantProposal, StoredAssistant } from "./assistant.ts";
import type { AuditPage, AuditQuery } from "./audit.ts";
import type { Reservation, ReservationAnswer } from "./budget.ts";
import type { NotificationMethods } from "./notification.ts";
import type { ConsentQuery, ConsentRevocation } from "./consent.ts";
import type { ErasureMethods } from "./people.ts";
import type { PolicyChange } from "./policy.ts";
import type { StorageQuery, StorageUse } from "./storage.ts";
import type { ApprovalSummary } from "../protocol/approval/view.ts";
import type { AssistantPin } from "../protocol/assistant/pin.ts";
import type { AuditEntry } from "../protocol/audit/entry.ts";
import type { BudgetAmounts } from "../protocol/budget/amounts.ts";
import type { ConsentView } from "../protocol/consent/consent.ts";
import type { PolicyPin, PolicyProposal } from "../protocol/policy/pin.ts";
import type {
  Escalation,
  EscalationReason,
  EscalationState,
} from "../protocol/escalation/escalation.ts";
import type { Feedback, ListedFeedback } from "../protocol/conversation/feedback.ts";
import type { ConversationSummary } from "../protocol/conversation/summary.ts";
import type { RunId, ActorId, TenantId } from "../protocol/identity/ids.ts";
import type { DailySpending, DayRange, TenantMetrics } from "../protocol/metric/measures.ts";
import type { AwaitedOutcome } from "../protocol/run/awaited-outcome.ts";
import type { TenantNotice } from "../protocol/run/tenant-notice.ts";
import type { RunStatus } from "../protocol/run/state.ts";
import type { RunSummary } from "../protocol/run/summary.ts";
import type { CallFilters, ListPosition, ListPage } from "../protocol/list/page.ts";

/** A notice with its number; a run never uses a number twice. */
export interface SentNotice {
  readonly seq: number;
  readonly notice: TenantNotice;
}

/**
 * Receives the notices of a run at the object of its tenant.
 * Contract: never throws; false means that the run must send the notices again. Notices arrive in
 * the order of their numbers. A notice that arrives several times counts once.
 */
export interface NoticeReceiver {
  receive(runId: RunId, notices: readonly SentNotice[]): Promise<boolean>;
}

/** Filters the runs of a tenant, within the rights of the caller. Times are Unix milliseconds. */
export interface RunQuery {
  /** Absent: all runs of the tenant. */
  readonly viewer?: RunViewer | undefined;
  readonly status?: RunStatus | undefined;
  /** `call`: runs of one direct call. `chat`: all others. */
  readonly kind?: "chat" | "call" | undefined;
  readonly actor?: ActorId | undefined;
  readonly assistantId?: string | undefined;
  /** Runs that asked for this tool. */
  readonly toolId?: string | undefined;
  /** Started then or later. */
  readonly fromMs?: number | undefined;
  /** Started before. */
  readonly toMs?: number | undefined;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
}

/** Selects the caller's own runs. */
export interface RunViewer {
  /** Runs on the account of this person. */
  readonly person: ActorId;
  /** Runs that this actor started, on any account; absent for a caller that acts for a person. */
  readonly actor?: ActorId;
}

/**
 * Lists the runs of a tenant.
 * Contract: newest first. Runs that start later do not change the page after a position. The list
 * follows the runs with a short delay. With an assistant or a tool a page looks at a bounded number
 * of runs, so it may hold fewer than its limit, or none, and name a next one. Throws when the
 * tenant's object cannot be reached.
 */
export interface RunDirectory {
  list(tenantId: TenantId, query: RunQuery): Promise<ListPage<RunSummary>>;
}

/** Selects conversations of the caller, the newest first. */
export interface ConversationQuery {
  readonly person: ActorId;
  /** The actor: its own conversations for others too, unless it acts for the person. */
  readonly actor: ActorId;
  readonly isDelegate: boolean;
  /** Those of the person alone, and none that the person began for others. */
  readonly isPersonOnly?: true;
  /** Those that pages of this origin began with this assistant. */
  readonly page?: { readonly origin: string; readonly assistantId: string };
  /** Those that began with this assistant. */
  readonly assistantId?: string | undefined;
  /** Part of the title, in any letter case. */
  readonly title?: string | undefined;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
}

/**
 * Lists the conversations of a tenant. Contract: as of RunDirectory; the newest turn decides the
 * order.
 */
export interface ConversationDirectory {
  list(tenantId: TenantId, query: ConversationQuery): Promise<ListPage<ConversationSummary>>;
}

/** Filters the feedback of a tenant. */
export interface FeedbackQuery {
  readonly rating?: Feedback["rating"] | undefined;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
}

/** Filters the unknown outcomes of a tenant. */
export interface OutcomeQuery extends CallFilters {
  readonly limit: number;
  readonly after?: ListPosition | undefined;
}

/**
 * Lists the calls of a tenant whose outcome an operator may resolve.
 * Contract: the one that expires first comes first. The list follows the runs with a short delay.
 * Throws when the tenant's object cannot be reached.
 */
export interface OutcomeList {
  list(tenantId: TenantId, query: OutcomeQuery): Promise<ListPage<AwaitedOutcome>>;
}

/** Filters the escalations of a tenant. */
export interface EscalationQuery extends CallFilters {
  /** Absent: those that are not settled. */
  readonly state?: EscalationState | undefined;
  readonly reason?: EscalationReason | undefined;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
}

/** What a person does with an escalation. */
export interface EscalationAct {
  readonly number: number;
  readonly action: "take" | "release" | "settle";
  readonly by: ActorId;
  /** Who has taken it, in the eyes of the caller. Absent: nobody else. */
  readonly from?: ActorId | undefined;
  readonly note?: string | undefined;
}

/**
 * `held`: somebody else has taken it. `needs_report`: only a report or a decision about the call
 * settles it.
 * `settled`: it was settled before.
 */
export type EscalationAnswer =
  | { readonly kind: "done"; readonly escalation: Escalation }
  | { readonly kind: "held"; readonly takenBy: ActorId }
  | { readonly kind: "needs_report" }
  | { readonly kind: "settled" }
  | { readonly kind: "unknown" };

/**
 * What the runs of a tenant cannot settle themselves.
 * Contract: the oldest comes first. The list follows the runs with a short delay. `act` answers
 * once it is stored and audited; repeating it changes nothing. Throws when the tenant's object
 * cannot be reached.
 */
export interface EscalationDesk {
  list(tenantId: TenantId, query: EscalationQuery): Promise<ListPage<Escalation>>;
  act(tenantId: TenantId, act: EscalationAct): Promise<EscalationAnswer>;
}

/** Scope of a cursor: tenant, list, viewer and filters. A cursor is valid in its scope only. */
export type CursorScope = readonly (string | number | boolean | null)[];

/**
 * Issues and reads cursors. A cursor names the position where the next request of a client
 * continues.
 * Contract: `read` answers undefined for a cursor of another scope; it reads no storage.
 */
export interface Cursors {
  issue(place: string, scope: CursorScope): Promise<string>;
  read(cursor: string, scope: CursorScope): Promise<string | undefined>;
}

/**
 * What decides about the runs of a tenant: policy and origins, assistants, budgets, consents. The
 * capabilities that use a method state its contract.
 */
export interface TenantHeadMethods {
  policy(): Promise<PolicyPin | undefined>;
  change(proposal: PolicyProposal): Promise<PolicyChange>;
  assistants(): Promise<readonly Required<AssistantPin>[]>;
  assistant(id: string, hash?: string): Promise<StoredAssistant | undefined>;
  changeAssistant(proposal: AssistantProposal): Promise<AssistantChange>;
  reserve(reservation: Reservation): Promise<ReservationAnswer>;
  peek(reservation: Reservation): Promise<ReservationAnswer>;
  settle(id: string, used: BudgetAmounts): Promise<void>;
  release(id: string): Promise<void>;
  consents(query: ConsentQuery): Promise<ListPage<ConsentView>>;
  revokeConsent(revocation: ConsentRevocation): Promise<ConsentView | undefined>;
}

/**
 * What a tenant knows about its runs: run directory, approval queue, unknown outcomes, escalations,
 * stored bytes and audit log. Nothing here decides about a policy or a budget, so that the records
 * may be kept in a place of their own.
 */
export interface TenantRecordsMethods {
  takePlace(place: ApprovalPlace): Promise<PlaceAnswer>;
  receive(runId: RunId, sent: readonly SentNotice[]): Promise<void>;
  record(entry: AuditEntry): Promise<void>;
  runs(query: RunQuery): Promise<ListPage<RunSummary>>;
  conversations(query: ConversationQuery): Promise<ListPage<ConversationSummary>>;
  feedback(query: FeedbackQuery): Promise<ListPage<ListedFeedback>>;
  approvals(query: ApprovalQuery): Promise<ListPage<ApprovalSummary>>;
  outcomes(query: OutcomeQuery): Promise<ListPage<AwaitedOutcome>>;
  escalations(query: EscalationQuery): Promise<ListPage<Escalation>>;
  actOnEscalation(act: EscalationAct): Promise<EscalationAnswer>;
  audit(query: AuditQuery): Promise<AuditPage>;
  metrics(): Promise<TenantMetrics>;
  /** What the runs used on these days, the newest first. Days without use are absent. */
  spending(days: DayRange): Promise<readonly DailySpending[]>;
  /** What the runs of a person and of the tenant stored. */
  storageUse(query: StorageQuery): Promise<StorageUse>;
  /** Which of these hashes a person used before; see UsedNames. */
  usedNames(person: string, hashes: readonly string[]): Promise<readonly string[]>;
}

/**
 * Typed RPC of a tenant's object, which holds all of them.
 * Contract: names and shapes hold for one release, as in RunMethods.
 */
export interface TenantMethods
  extends TenantHeadMethods, TenantRecordsMethods, NotificationMethods, ErasureMethods {}
