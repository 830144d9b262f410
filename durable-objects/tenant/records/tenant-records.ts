import type {
  ApprovalPlace,
  ApprovalQuery,
  PlaceAnswer,
} from "../../../src/capabilities/approval.ts";
import type { AuditPage, AuditQuery } from "../../../src/capabilities/audit.ts";
import type { StorageQuery, StorageUse } from "../../../src/capabilities/storage.ts";
import type {
  ConversationQuery,
  FeedbackQuery,
  EscalationAct,
  EscalationAnswer,
  EscalationQuery,
  OutcomeQuery,
  RunQuery,
  SentNotice,
  TenantRecordsMethods,
} from "../../../src/capabilities/tenant.ts";
import type { TenantPorts } from "../../../src/compose/tenant.ts";
import type { ApprovalSummary } from "../../../src/protocol/approval/view.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { ListedFeedback } from "../../../src/protocol/conversation/feedback.ts";
import type { ConversationSummary } from "../../../src/protocol/conversation/summary.ts";
import type { Escalation } from "../../../src/protocol/escalation/escalation.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import type {
  DailySpending,
  DayRange,
  TenantMetrics,
} from "../../../src/protocol/metric/measures.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import type { AwaitedOutcome } from "../../../src/protocol/run/awaited-outcome.ts";
import type { RunSummary } from "../../../src/protocol/run/summary.ts";
import type { TenantDeadlines } from "../../deadlines.ts";
import type { AuditBook } from "./audit-book.ts";
import { removeOldRecords } from "./audit-retention.ts";
import { readGauges } from "./gauges.ts";
import type { RecordTables } from "./record-tables.ts";
import type { KeptLists } from "./retention.ts";

/** Delay of the next move, so that runs get their turn. */
const NEXT_ARCHIVE_MS = 1_000;

/** What the records read and write outside their own tables. */
export interface RecordParts extends Pick<
  TenantPorts,
  "clock" | "keptMs" | "conversationKeptMs" | "auditKeptMs" | "auditSigner"
> {
  readonly storage: DurableObjectStorage;
  readonly tables: RecordTables;
  readonly audit: AuditBook;
  readonly deadlines: TenantDeadlines;
  /** Sets the alarm for what people are told of. */
  readonly planNotifications: () => void;
  /** Gives the storage its version, before the first write. */
  readonly claim: () => void;
}

/**
 * What a tenant knows about its runs, for as long as the deployment keeps it.
 * Ownership: one per tenant object.
 * Contract: a method that writes waits until storage holds what it wrote.
 */
export class TenantRecords implements TenantRecordsMethods {
  readonly #parts: RecordParts;
  readonly #tables: RecordTables;
  /** The oldest records of the audit log do not follow each other, so they stay as evidence. */
  #isAuditBroken = false;

  constructor(parts: RecordParts) {
    this.#parts = parts;
    this.#tables = parts.tables;
  }

  /** Takes a place for an approval that a run is about to request. */
  async takePlace(place: ApprovalPlace): Promise<PlaceAnswer> {
    this.#parts.claim();
    const answer = this.#tables.takePlace(place, this.#nowMs());
    await this.#parts.storage.sync();
    return answer;
  }

  /** Stores the notices of a run. Contract: a notice that arrives again changes nothing. */
  async receive(runId: RunId, sent: readonly SentNotice[]): Promise<void> {
    this.#parts.claim();
    this.#tables.receive(runId, sent, this.#nowMs());
    this.#parts.planNotifications();
    this.#scheduleRetention();
    this.#scheduleArchive();
    await this.#parts.storage.sync();
  }

  /** Appends an entry to the audit log that belongs to no run. */
  async record(entry: AuditEntry): Promise<void> {
    this.#parts.claim();
    this.append(entry);
    this.#scheduleRetention();
    this.#scheduleArchive();
    await this.#parts.storage.sync();
  }

  /** Does the same as a part of the caller's transaction. */
  append(entry: AuditEntry): void {
    this.#tables.record(entry);
  }

  async runs(query: RunQuery): Promise<ListPage<RunSummary>> {
    return this.#lists.runs.list(query);
  }

  async feedback(query: FeedbackQuery): Promise<ListPage<ListedFeedback>> {
    return this.#lists.feedback.list(query);
  }

  async conversations(query: ConversationQuery): Promise<ListPage<ConversationSummary>> {
    return this.#lists.conversations.list(query);
  }

  async approvals(query: ApprovalQuery): Promise<ListPage<ApprovalSummary>> {
    return this.#lists.approvals.list(query, this.#nowMs());
  }

  async outcomes(query: OutcomeQuery): Promise<ListPage<AwaitedOutcome>> {
    return this.#lists.outcomes.list(query, this.#nowMs());
  }

  async escalations(query: EscalationQuery): Promise<ListPage<Escalation>> {
    return this.#lists.escalations.list(query);
  }

  /** Takes, releases or settles an escalation, and records that. */
  async actOnEscalation(act: EscalationAct): Promise<EscalationAnswer> {
    const answer = this.#tables.actOnEscalation(act, this.#nowMs());
    await this.#parts.storage.sync();
    return answer;
  }

  async audit(query: AuditQuery): Promise<AuditPage> {
    return this.#parts.audit.read(query);
  }

  async metrics(): Promise<TenantMetrics> {
    const nowMs = this.#nowMs();
    const dueMs = this.#tables.dueMs(this.#parts, this.#parts.audit.oldestMs()) ?? nowMs;
    const retentionLateMs = Math.max(0, nowMs - dueMs);
    return {
      measures: this.#lists.measures.read(),
      gauges: { ...readGauges(this.#lists, nowMs), retentionLateMs },
    };
  }

  async spending(days: DayRange): Promise<readonly DailySpending[]> {
    return this.#lists.measures.spending(days);
  }

  async storageUse(query: StorageQuery): Promise<StorageUse> {
    return this.#lists.bytes.read(query, this.#nowMs());
  }

  async usedNames(person: string, hashes: readonly string[]): Promise<readonly string[]> {
    return this.#lists.usedNames.find(person, hashes);
  }

  /** Deletes what the deployment keeps no longer. */
  async deleteExpired(): Promise<void> {
    const { audit, auditKeptMs, auditSigner: signer, deadlines, storage } = this.#parts;
    const nowMs = this.#nowMs();
    this.#tables.deleteExpired(nowMs, this.#parts);
    const removal = { storage, signer, beforeMs: nowMs - auditKeptMs };
    this.#isAuditBroken = !(await removeOldRecords(audit, removal));
    deadlines.clear("retention");
    this.#scheduleRetention();
  }

  /** Moves the records of a large audit log elsewhere, a bounded number at once. */
  async archive(): Promise<void> {
    const { audit, deadlines } = this.#parts;
    if (!deadlines.has("archive")) return;
    await audit.archive();
    deadlines.clear("archive");
    this.#scheduleArchive();
  }

  /** A record that comes now is due after the shortest retention, so an earlier deadline stays. */
  #scheduleRetention(): void {
    const { keptMs, conversationKeptMs, auditKeptMs, deadlines } = this.#parts;
    const soonestMs = this.#nowMs() + Math.min(keptMs, conversationKeptMs, auditKeptMs);
    if ((deadlines.at("retention") ?? Infinity) <= soonestMs) return;
    const recordedMs = this.#isAuditBroken ? undefined : this.#parts.audit.oldestMs();
    deadlines.setEarlier("retention", this.#tables.dueMs(this.#parts, recordedMs));
  }

  #scheduleArchive(): void {
    const { audit, deadlines } = this.#parts;
    if (deadlines.has("archive") || !audit.isLarge()) return;
    deadlines.set("archive", this.#nowMs() + NEXT_ARCHIVE_MS);
  }

  get #lists(): KeptLists {
    return this.#tables.lists;
  }

  #nowMs(): number {
    return this.#parts.clock.nowMs();
  }
}
