import type {
  ApprovalPlace,
  ApprovalQuery,
  PlaceAnswer,
} from "../../../src/capabilities/approval.ts";
import type { AuditPage, AuditQuery, AuditSigner } from "../../../src/capabilities/audit.ts";
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
} from "../../../src/capabilities/tenant.ts";
import type { ApprovalSummary } from "../../../src/protocol/approval/view.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { ListedFeedback } from "../../../src/protocol/conversation/feedback.ts";
import type { ConversationSummary } from "../../../src/protocol/conversation/summary.ts";
import type { Escalation } from "../../../src/protocol/escalation/escalation.ts";
import type { ActorId, RunId } from "../../../src/protocol/identity/ids.ts";
import { personOf } from "../../../src/protocol/identity/principal.ts";
import type { AwaitedOutcome } from "../../../src/protocol/run/awaited-outcome.ts";
import type {
  DailySpending,
  DayRange,
  TenantMetrics,
} from "../../../src/protocol/metric/measures.ts";
import type { RunSummary } from "../../../src/protocol/run/summary.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import type { TenantNotice } from "../../../src/protocol/run/tenant-notice.ts";
import type { NotificationOutbox } from "../notifications/notification-outbox.ts";
import { ApprovalQueue } from "./approval-queue.ts";
import { AuditLog } from "./audit-log.ts";
import { removeOldRecords } from "./audit-retention.ts";
import { deleteExpired, nextDeletionMs, type KeptLists, type Retention } from "./retention.ts";
import { eraseConversation, eraseRun } from "./erase-records.ts";
import { readGauges } from "./gauges.ts";
import { MeasureCounts } from "./measure-counts.ts";
import { cleanApproval, cleanEntry, cleanPlace, cleanRun, cleanTitle } from "./clean-records.ts";
import { FeedbackList } from "./feedback-list.ts";
import { ConversationList } from "./conversation-list.ts";
import { EscalationBook } from "./escalation-book.ts";
import { OutcomeList, outcomesTold } from "./outcome-list.ts";
import { RunDirectory, type LastNotice, type RunReport } from "./run-directory.ts";
import { UsedNameList } from "./used-names.ts";
import { StoredBytes } from "./stored-bytes.ts";

/** New notices of a run, and its report before them. */
interface Received {
  readonly runId: RunId;
  readonly notices: readonly TenantNotice[];
  readonly before: RunReport | undefined;
  readonly last: LastNotice;
}

/**
 * The records that the runs of a tenant report: run directory, approval queue, unknown outcomes,
 * escalations and audit log.
 * Ownership: one per tenant object.
 * Contract: synchronous; `clean-records` masks and bounds every record before it is stored.
 */
export class RecordTables {
  readonly #storage: DurableObjectStorage;
  readonly #runs: RunDirectory;
  readonly #approvals: ApprovalQueue;
  readonly #conversations: ConversationList;
  readonly #feedback: FeedbackList;
  readonly #outcomes: OutcomeList;
  readonly #escalations: EscalationBook;
  readonly #audit: AuditLog;
  readonly #bytes: StoredBytes;
  readonly #usedNames: UsedNameList;
  readonly #notifications: NotificationOutbox;
  readonly #measures: MeasureCounts;
  readonly #kept: KeptLists;
  #hasTables = false;
  /** The oldest records of the audit log do not follow each other, so they stay as evidence. */
  #isAuditBroken = false;

  constructor(storage: DurableObjectStorage, notifications: NotificationOutbox) {
    const { sql } = storage;
    this.#notifications = notifications;
    this.#storage = storage;
    this.#runs = new RunDirectory(sql);
    this.#approvals = new ApprovalQueue(sql);
    this.#conversations = new ConversationList(sql);
    this.#feedback = new FeedbackList(sql);
    this.#outcomes = new OutcomeList(sql);
    this.#escalations = new EscalationBook(sql);
    this.#audit = new AuditLog(storage);
    this.#bytes = new StoredBytes(sql);
    this.#usedNames = new UsedNameList(sql);
    this.#measures = new MeasureCounts(sql);
    this.#kept = {
      runs: this.#runs,
      approvals: this.#approvals,
      conversations: this.#conversations,
      feedback: this.#feedback,
      outcomes: this.#outcomes,
      escalations: this.#escalations.list,
      bytes: this.#bytes,
      usedNames: this.#usedNames,
      notifications,
    };
  }

  /**
   * Stores the notices of a run that did not arrive before. Contract: the records and the number of
   * the last notice are one transaction, so a crash neither loses nor repeats a notice.
   */
  receive(runId: RunId, sent: readonly SentNotice[], nowMs: number): void {
    this.#createTables();
    this.#storage.transactionSync(() => {
      const before = this.#runs.reportOf(runId);
      const fresh = sent.filter(({ seq }) => seq > (before?.lastSeq ?? 0));
      const seq = fresh.at(-1)?.seq;
      if (seq === undefined) return;
      const notices = fresh.map(({ notice }) => notice);
      const report = this.#storeReport({ runId, notices, before, last: { seq, atMs: nowMs } });
      const grown = Math.max(0, (report?.storedBytes ?? 0) - (before?.storedBytes ?? 0));
      const auditBytes = this.#storeOthers({ runId, notices, before }, nowMs);
      this.#bytes.add(report?.person, grown + auditBytes, nowMs);
      const hashes = notices.flatMap((one) => (one.type === "audit" ? (one.usedNames ?? []) : []));
      if (report && hashes.length > 0) this.#usedNames.add(report.person, hashes, nowMs);
    });
  }

  /** Appends an entry to the audit log that belongs to no run. */
  record(entry: AuditEntry): void {
    this.#createTables();
    this.#storage.transactionSync(() => this.#audit.append(cleanEntry(entry)));
  }

  /** Takes a place for an approval. Contract: counting and taking are one transaction. */
  takePlace(place: ApprovalPlace, nowMs: number): PlaceAnswer {
    this.#createTables();
    return this.#storage.transactionSync(() => this.#approvals.take(cleanPlace(place), nowMs));
  }

  runs(query: RunQuery): ListPage<RunSummary> {
    return this.#runs.list(query);
  }

  feedback(query: FeedbackQuery): ListPage<ListedFeedback> {
    return this.#feedback.list(query);
  }

  conversations(query: ConversationQuery): ListPage<ConversationSummary> {
    return this.#conversations.list(query);
  }

  approvals(query: ApprovalQuery, nowMs: number): ListPage<ApprovalSummary> {
    return this.#approvals.list(query, nowMs);
  }

  outcomes(query: OutcomeQuery, nowMs: number): ListPage<AwaitedOutcome> {
    return this.#outcomes.list(query, nowMs);
  }

  escalations(query: EscalationQuery): ListPage<Escalation> {
    return this.#escalations.list.list(query);
  }

  /** Does what a person asks for. Contract: the change and its record are one transaction. */
  actOnEscalation(act: EscalationAct, nowMs: number): EscalationAnswer {
    return this.#storage.transactionSync(() => {
      const { answer, entries } = this.#escalations.act(act, nowMs);
      if (entries.length > 0) this.#audit.append(...entries);
      return answer;
    });
  }

  audit(query: AuditQuery): AuditPage {
    return this.#audit.read(query);
  }

  /** What the runs counted, and what is open at the moment. */
  metrics(nowMs: number): TenantMetrics {
    return { measures: this.#measures.read(), gauges: readGauges(this.#kept, nowMs) };
  }

  /** What the runs used, day by day. */
  spending(days: DayRange): readonly DailySpending[] {
    return this.#measures.spending(days);
  }

  storageUse(query: StorageQuery, nowMs: number): StorageUse {
    return this.#bytes.read(query, nowMs);
  }

  usedNames(person: string, hashes: readonly string[]): readonly string[] {
    return this.#usedNames.find(person, hashes);
  }

  /** Time of the next deletion; undefined when nothing is stored. */
  dueMs(kept: Retention): number | undefined {
    const recordedMs = this.#isAuditBroken ? undefined : this.#audit.oldestMs();
    return nextDeletionMs(this.#kept, kept, recordedMs);
  }

  /** Removes old records of the audit log, and keeps a signed summary of them. */
  async removeOldAudit(beforeMs: number, signer: AuditSigner): Promise<void> {
    const removal = { signer, beforeMs };
    this.#isAuditBroken = !(await removeOldRecords(this.#audit, removal));
  }

  /** Deletes what is kept no longer. */
  deleteExpired(nowMs: number, kept: Retention): void {
    this.#storage.transactionSync(() => deleteExpired(this.#kept, kept, nowMs));
  }

  /**
   * Stores what a run last reported about itself, and the number of its last notice; answers the
   * report, or the one before.
   * Threat: a notice may name another run; the id of its sender replaces the name.
   */
  #storeReport({ runId, notices, before, last }: Received): RunReport | undefined {
    const told = notices.findLast((notice) => notice.type === "run");
    if (!told) {
      this.#runs.note(runId, last);
      return before;
    }
    const { run, outcomes = [] } = told;
    const count = outcomes.length > 0 && { awaitsOutcomes: outcomes.length };
    const report = { ...cleanRun(run), runId, ...count };
    this.#runs.put(report, last);
    if (told.conversation) {
      this.#conversations.note(told.conversation, report, before === undefined);
    }
    const awaited = outcomesTold(notices, { runId, had: before?.awaitsOutcomes ?? 0 });
    if (awaited) this.#outcomes.replace(runId, awaited);
    return {
      person: personOf(report),
      storedBytes: report.storedBytes ?? 0,
      awaitsOutcomes: outcomes.length,
      lastSeq: last.seq,
    };
  }

  /**
   * Deletes what the lists hold of a run, and of the conversation that begins with it. The audit
   * log keeps its records.
   */
  erase(runId: RunId): void {
    eraseConversation(this.#kept, runId);
    eraseRun(this.#kept, runId);
  }

  /** Deletes what is kept of a person beside the runs. */
  forgetPerson(person: ActorId): void {
    this.#usedNames.forgetPerson(person);
    this.#bytes.forgetPerson(person);
  }

  /** Stores the other notices, likewise; answers how many bytes the audit log grew. */
  #storeOthers({ runId, notices, before }: Omit<Received, "last">, nowMs: number): number {
    const entries: AuditEntry[] = [];
    const asked: ApprovalSummary[] = [];
    for (const notice of notices) {
      if (notice.type === "audit") entries.push({ ...cleanEntry(notice.entry), runId });
      else if (notice.type === "approval") {
        const approval = { ...cleanApproval(notice.approval), runId };
        const isFirst = this.#approvals.put(approval);
        if (isFirst && approval.status === "pending") asked.push(approval);
      } else if (notice.type === "erased") eraseRun(this.#kept, runId);
      else if (notice.type === "conversation_erased") eraseConversation(this.#kept, runId);
      else if (notice.type === "measures") this.#measures.add(notice, nowMs);
      else if (notice.type === "feedback") this.#feedback.note(notice, runId);
      else if (notice.type === "conversation") {
        this.#conversations.rename(runId, cleanTitle(notice.title));
      }
    }
    const outcomes = outcomesTold(notices, { runId, had: before?.awaitsOutcomes ?? 0 });
    const noted = this.#escalations.note({ runId, entries, outcomes }, nowMs);
    this.#notifications.tell({ opened: noted.opened, asked }, nowMs);
    return noted.entries.length === 0 ? 0 : this.#audit.append(...noted.entries);
  }

  /**
   * Creates the tables with the first record, so that a read of an unknown tenant writes nothing.
   */
  #createTables(): void {
    if (this.#hasTables) return;
    const parts = [
      this.#runs,
      this.#conversations,
      this.#approvals,
      this.#audit,
      this.#bytes,
      this.#usedNames,
    ];
    for (const part of parts) part.createTable();
    this.#hasTables = true;
  }
}
