import { DurableObject } from "cloudflare:workers";
import type {
  AssistantChange,
  AssistantProposal,
  StoredAssistant,
} from "../../src/capabilities/assistant.ts";
import type { Reservation, ReservationAnswer } from "../../src/capabilities/budget.ts";
import type { ApprovalPlace, ApprovalQuery, PlaceAnswer } from "../../src/capabilities/approval.ts";
import type { ArchiveMethods, AuditPage, AuditQuery } from "../../src/capabilities/audit.ts";
import type { ConsentQuery, ConsentRevocation } from "../../src/capabilities/consent.ts";
import type { ErasureRequest } from "../../src/capabilities/people.ts";
import type { NotificationQuery } from "../../src/capabilities/notification.ts";
import type { PolicyChange } from "../../src/capabilities/policy.ts";
import type { StorageQuery, StorageUse } from "../../src/capabilities/storage.ts";
import type {
  ConversationQuery,
  FeedbackQuery,
  EscalationAct,
  EscalationAnswer,
  EscalationQuery,
  OutcomeQuery,
  RunQuery,
  SentNotice,
  TenantMethods,
} from "../../src/capabilities/tenant.ts";
import { composeTenant } from "../../src/compose/tenant.ts";
import type { RawEnv } from "../../src/env.ts";
import type { ApprovalSummary } from "../../src/protocol/approval/view.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { BudgetAmounts } from "../../src/protocol/budget/amounts.ts";
import type { ConsentView } from "../../src/protocol/consent/consent.ts";
import type { ListedFeedback } from "../../src/protocol/conversation/feedback.ts";
import type { ConversationSummary } from "../../src/protocol/conversation/summary.ts";
import type { Escalation } from "../../src/protocol/escalation/escalation.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import type { DailySpending, DayRange, TenantMetrics } from "../../src/protocol/metric/measures.ts";
import type { ListPage } from "../../src/protocol/list/page.ts";
import type { UndeliveredNotification } from "../../src/protocol/notification/notification.ts";
import type { PolicyPin, PolicyProposal } from "../../src/protocol/policy/pin.ts";
import type { PersonErasure } from "../../src/protocol/person/erasure.ts";
import type { AwaitedOutcome } from "../../src/protocol/run/awaited-outcome.ts";
import type { RunSummary } from "../../src/protocol/run/summary.ts";
import { Deadlines, type TenantDeadlines } from "../deadlines.ts";
import { migrateStorage, versionOf, writeVersion, type Layout } from "../storage-version.ts";
import { DeadlineTable } from "./deadline-table.ts";
import { NotificationDelivery } from "./notifications/notification-delivery.ts";
import { NotificationOutbox } from "./notifications/notification-outbox.ts";
import { ConsentList } from "./head/consent-list.ts";
import { TenantHead } from "./head/tenant-head.ts";
import { AuditArchiveTables } from "./records/audit-archive.ts";
import { AuditBook } from "./records/audit-book.ts";
import { AuditLog } from "./records/audit-log.ts";
import { RecordTables } from "./records/record-tables.ts";
import { PersonErasures } from "./people/person-erasures.ts";
import { TenantRecords } from "./records/tenant-records.ts";

/** Versions of the tables of a tenant, and of the JSON in them. */
const LAYOUT: Layout = { oldest: 9, migrations: [] };
/** Interval of the alarm on storage that this code cannot read. */
const REFUSED_RETRY_MS = 60_000;

/**
 * Owns what the runs of one tenant share: its head, which decides, and its records, which report.
 * Trust: only the Worker and the runs reach the object. A run sends the limits of the policy that
 * its pin names; the object compares this pin with the current one.
 * Contract: shapes of RPC hold for one release; see RunMethods. A method that writes answers when
 * storage holds what it wrote. On storage that this code cannot read, every method throws.
 */
export class TenantObject extends DurableObject<RawEnv> implements TenantMethods, ArchiveMethods {
  readonly #parts: TenantParts;
  /** The storage has a version and tables. */
  #isClaimed = false;
  /** Why this code cannot read the storage. The object then writes nothing. */
  #refusal: unknown;

  constructor(ctx: DurableObjectState, env: RawEnv) {
    super(ctx, env);
    const { storage } = ctx;
    const deadlines = new Deadlines(storage, new DeadlineTable(storage.sql));
    const shared = {
      ...composeTenant(env),
      storage,
      deadlines,
      claim: () => this.#claim(),
    };
    const outbox = new NotificationOutbox(storage.sql);
    const log = new AuditLog(storage);
    const audit = new AuditBook({ ...shared, log, owner: ctx.id.toString() });
    const isClaimed = (): boolean => this.#isClaimed;
    const archive = new AuditArchiveTables({ ...shared, isClaimed });
    const tables = new RecordTables({ storage, notifications: outbox, audit: log });
    const delivery = new NotificationDelivery({ ...shared, outbox });
    const planNotifications = (): void => delivery.plan();
    const records = new TenantRecords({ ...shared, tables, audit, planNotifications });
    const consents = new ConsentList(storage.sql);
    const people = new PersonErasures({ ...shared, tables, consents });
    const head = new TenantHead({
      ...shared,
      consents,
      record: (entry) => records.append(entry),
      setPlace: (...place) => outbox.setPlace(...place),
    });
    const nowMs = (): number => shared.clock.nowMs();
    this.#parts = { head, records, archive, delivery, people, deadlines, nowMs };
    try {
      this.#isClaimed = migrateStorage(storage, LAYOUT);
    } catch (cause) {
      this.#refusal = cause;
      return;
    }
    head.resumePublication();
    // The platform drops an alarm after six failures, so each incarnation arms it again.
    deadlines.arm();
  }

  async policy(): Promise<PolicyPin | undefined> {
    return this.#open.head.policy();
  }

  async change(proposal: PolicyProposal): Promise<PolicyChange> {
    return this.#open.head.change(proposal);
  }

  async assistants(): Promise<readonly StoredAssistant["pin"][]> {
    return this.#open.head.assistants();
  }

  async assistant(id: string, hash?: string): Promise<StoredAssistant | undefined> {
    return this.#open.head.assistant(id, hash);
  }

  async changeAssistant(proposal: AssistantProposal): Promise<AssistantChange> {
    return this.#open.head.changeAssistant(proposal);
  }

  async reserve(reservation: Reservation): Promise<ReservationAnswer> {
    return this.#open.head.reserve(reservation);
  }

  async peek(reservation: Reservation): Promise<ReservationAnswer> {
    return this.#open.head.peek(reservation);
  }

  async settle(id: string, used: BudgetAmounts): Promise<void> {
    return this.#open.head.settle(id, used);
  }

  async release(id: string): Promise<void> {
    return this.#open.head.release(id);
  }

  async consents(query: ConsentQuery): Promise<ListPage<ConsentView>> {
    return this.#open.head.consents(query);
  }

  async revokeConsent(revocation: ConsentRevocation): Promise<ConsentView | undefined> {
    return this.#open.head.revokeConsent(revocation);
  }

  async takePlace(place: ApprovalPlace): Promise<PlaceAnswer> {
    return this.#open.records.takePlace(place);
  }

  async receive(runId: RunId, sent: readonly SentNotice[]): Promise<void> {
    return this.#open.records.receive(runId, sent);
  }

  async record(entry: AuditEntry): Promise<void> {
    return this.#open.records.record(entry);
  }

  async runs(query: RunQuery): Promise<ListPage<RunSummary>> {
    return this.#open.records.runs(query);
  }

  async feedback(query: FeedbackQuery): Promise<ListPage<ListedFeedback>> {
    return this.#open.records.feedback(query);
  }

  async conversations(query: ConversationQuery): Promise<ListPage<ConversationSummary>> {
    return this.#open.records.conversations(query);
  }

  async approvals(query: ApprovalQuery): Promise<ListPage<ApprovalSummary>> {
    return this.#open.records.approvals(query);
  }

  async outcomes(query: OutcomeQuery): Promise<ListPage<AwaitedOutcome>> {
    return this.#open.records.outcomes(query);
  }

  async escalations(query: EscalationQuery): Promise<ListPage<Escalation>> {
    return this.#open.records.escalations(query);
  }

  async actOnEscalation(act: EscalationAct): Promise<EscalationAnswer> {
    return this.#open.records.actOnEscalation(act);
  }

  async audit(query: AuditQuery): Promise<AuditPage> {
    return this.#open.records.audit(query);
  }

  async keepArchived(...asked: Asked<"keepArchived">): Answer<"keepArchived"> {
    return this.#open.archive.keepArchived(...asked);
  }

  async readArchived(...asked: Asked<"readArchived">): Answer<"readArchived"> {
    return this.#open.archive.readArchived(...asked);
  }

  async planArchived(...asked: Asked<"planArchived">): Answer<"planArchived"> {
    return this.#open.archive.planArchived(...asked);
  }

  async dropArchived(...asked: Asked<"dropArchived">): Answer<"dropArchived"> {
    return this.#open.archive.dropArchived(...asked);
  }

  async metrics(): Promise<TenantMetrics> {
    return this.#open.records.metrics();
  }

  async spending(days: DayRange): Promise<readonly DailySpending[]> {
    return this.#open.records.spending(days);
  }

  async storageUse(query: StorageQuery): Promise<StorageUse> {
    return this.#open.records.storageUse(query);
  }

  async usedNames(person: string, hashes: readonly string[]): Promise<readonly string[]> {
    return this.#open.records.usedNames(person, hashes);
  }

  async notifications(query: NotificationQuery): Promise<ListPage<UndeliveredNotification>> {
    return this.#open.delivery.notifications(query);
  }

  async retryNotification(id: string): Promise<boolean> {
    return this.#open.delivery.retryNotification(id);
  }

  async erasePerson(request: ErasureRequest): Promise<PersonErasure> {
    return this.#open.people.erasePerson(request);
  }

  async personErasure(erasureId: string): Promise<PersonErasure | undefined> {
    return this.#open.people.personErasure(erasureId);
  }

  /**
   * Handles all deadlines. Contract: an alarm may ring too early or twice; each part checks what is
   * due.
   */
  override async alarm(): Promise<void> {
    // The platform drops an alarm that fails six times, and then code that reads the storage
    // would never wake.
    if (this.#refusal !== undefined) {
      return this.ctx.storage.setAlarm(this.#parts.nowMs() + REFUSED_RETRY_MS);
    }
    const { head, records, delivery, people, deadlines } = this.#open;
    await head.publish();
    head.lapse();
    await delivery.deliver();
    await records.deleteExpired();
    await people.walk();
    await records.archive();
    deadlines.arm({ exactly: true });
  }

  /** The rooms. Fails: throws when this code cannot read their tables. */
  get #open(): TenantParts {
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#parts;
  }

  /** Writes the version together with the first table. */
  #claim(): void {
    if (this.#isClaimed) return;
    writeVersion(this.ctx.storage.sql, versionOf(LAYOUT));
    this.#isClaimed = true;
  }
}

type Asked<Name extends keyof ArchiveMethods> = Parameters<ArchiveMethods[Name]>;
type Answer<Name extends keyof ArchiveMethods> = ReturnType<ArchiveMethods[Name]>;

/** The parts of a tenant's object and their one alarm. */
interface TenantParts {
  readonly head: TenantHead;
  readonly records: TenantRecords;
  readonly archive: AuditArchiveTables;
  readonly delivery: NotificationDelivery;
  readonly people: PersonErasures;
  readonly deadlines: TenantDeadlines;
  readonly nowMs: () => number;
}
