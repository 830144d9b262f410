import type { ApprovalPlace, PlaceAnswer } from "../../../src/capabilities/approval.ts";
import type {
  EscalationAct,
  EscalationAnswer,
  SentNotice,
} from "../../../src/capabilities/tenant.ts";
import type { ApprovalSummary } from "../../../src/protocol/approval/view.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { ActorId, RunId } from "../../../src/protocol/identity/ids.ts";
import { personOf } from "../../../src/protocol/identity/principal.ts";
import type { TenantNotice } from "../../../src/protocol/run/tenant-notice.ts";
import type { NotificationOutbox } from "../notifications/notification-outbox.ts";
import { ApprovalQueue } from "./approval-queue.ts";
import type { AuditLog } from "./audit-log.ts";
import { deleteExpired, nextDeletionMs, type KeptLists, type Retention } from "./retention.ts";
import { eraseConversation, eraseRun } from "./erase-records.ts";
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

interface TablesParts {
  readonly storage: DurableObjectStorage;
  readonly notifications: NotificationOutbox;
  readonly audit: AuditLog;
}

/**
 * The records that the runs of a tenant report: run directory, approval queue, unknown outcomes,
 * escalations and audit log.
 * Ownership: one per tenant object.
 * Contract: synchronous; `clean-records` masks and bounds every record before it is stored.
 */
export class RecordTables {
  readonly #storage: DurableObjectStorage;
  readonly #escalations: EscalationBook;
  readonly #audit: AuditLog;
  /** For reads. */
  readonly lists: KeptLists;
  #hasTables = false;

  constructor({ storage, notifications, audit }: TablesParts) {
    const { sql } = storage;
    this.#storage = storage;
    this.#escalations = new EscalationBook(sql);
    this.#audit = audit;
    this.lists = {
      runs: new RunDirectory(sql),
      approvals: new ApprovalQueue(sql),
      conversations: new ConversationList(sql),
      feedback: new FeedbackList(sql),
      outcomes: new OutcomeList(sql),
      escalations: this.#escalations.list,
      bytes: new StoredBytes(sql),
      usedNames: new UsedNameList(sql),
      measures: new MeasureCounts(sql),
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
      const before = this.lists.runs.reportOf(runId);
      const fresh = sent.filter(({ seq }) => seq > (before?.lastSeq ?? 0));
      const seq = fresh.at(-1)?.seq;
      if (seq === undefined) return;
      const notices = fresh.map(({ notice }) => notice);
      const report = this.#storeReport({ runId, notices, before, last: { seq, atMs: nowMs } });
      const grown = Math.max(0, (report?.storedBytes ?? 0) - (before?.storedBytes ?? 0));
      const auditBytes = this.#storeOthers({ runId, notices, before }, nowMs);
      this.lists.bytes.add(report?.person, grown + auditBytes, nowMs);
      const hashes = notices.flatMap((one) => (one.type === "audit" ? (one.usedNames ?? []) : []));
      if (report && hashes.length > 0) this.lists.usedNames.add(report.person, hashes, nowMs);
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
    return this.#storage.transactionSync(() => this.lists.approvals.take(cleanPlace(place), nowMs));
  }

  /** Does what a person asks for. Contract: the change and its record are one transaction. */
  actOnEscalation(act: EscalationAct, nowMs: number): EscalationAnswer {
    return this.#storage.transactionSync(() => {
      const { answer, entries } = this.#escalations.act(act, nowMs);
      if (entries.length > 0) this.#audit.append(...entries);
      return answer;
    });
  }

  /**
   * Time of the next deletion; undefined when nothing is stored. `recordedMs`: of the oldest record
   * of the audit log that may be removed.
   */
  dueMs(kept: Retention, recordedMs: number | undefined): number | undefined {
    return nextDeletionMs(this.lists, kept, recordedMs);
  }

  /** Deletes what is kept no longer. */
  deleteExpired(nowMs: number, kept: Retention): void {
    this.#storage.transactionSync(() => deleteExpired(this.lists, kept, nowMs));
  }

  /**
   * Stores what a run last reported about itself, and the number of its last notice; answers the
   * report, or the one before.
   * Threat: a notice may name another run; the id of its sender replaces the name.
   */
  #storeReport({ runId, notices, before, last }: Received): RunReport | undefined {
    const told = notices.findLast((notice) => notice.type === "run");
    if (!told) {
      this.lists.runs.note(runId, last);
      return before;
    }
    const { run, outcomes = [] } = told;
    const count = outcomes.length > 0 && { awaitsOutcomes: outcomes.length };
    const report = { ...cleanRun(run), runId, ...count };
    this.lists.runs.put(report, last);
    if (told.conversation) {
      this.lists.conversations.note(told.conversation, report, before === undefined);
    }
    const awaited = outcomesTold(notices, { runId, had: before?.awaitsOutcomes ?? 0 });
    if (awaited) this.lists.outcomes.replace(runId, awaited);
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
    eraseConversation(this.lists, runId);
    eraseRun(this.lists, runId);
  }

  /** Deletes what is kept of a person beside the runs. */
  forgetPerson(person: ActorId): void {
    this.lists.usedNames.forgetPerson(person);
    this.lists.bytes.forgetPerson(person);
  }

  /** Stores the other notices, likewise; answers how many bytes the audit log grew. */
  #storeOthers({ runId, notices, before }: Omit<Received, "last">, nowMs: number): number {
    const entries: AuditEntry[] = [];
    const asked: ApprovalSummary[] = [];
    for (const notice of notices) {
      if (notice.type === "audit") entries.push({ ...cleanEntry(notice.entry), runId });
      else if (notice.type === "approval") {
        const approval = { ...cleanApproval(notice.approval), runId };
        const isFirst = this.lists.approvals.put(approval);
        if (isFirst && approval.status === "pending") asked.push(approval);
      } else if (notice.type === "erased") eraseRun(this.lists, runId);
      else if (notice.type === "conversation_erased") eraseConversation(this.lists, runId);
      else if (notice.type === "feedback") this.lists.feedback.note(notice, runId);
      else if (notice.type === "conversation") {
        this.lists.conversations.rename(runId, cleanTitle(notice.title));
      }
    }
    this.lists.measures.note(notices, nowMs);
    const outcomes = outcomesTold(notices, { runId, had: before?.awaitsOutcomes ?? 0 });
    const noted = this.#escalations.note({ runId, entries, outcomes }, nowMs);
    this.lists.notifications.tell({ opened: noted.opened, asked }, nowMs);
    return noted.entries.length === 0 ? 0 : this.#audit.append(...noted.entries);
  }

  /**
   * Creates the tables with the first record, so that a read of an unknown tenant writes nothing.
   */
  #createTables(): void {
    if (this.#hasTables) return;
    const parts = [
      this.lists.runs,
      this.lists.conversations,
      this.lists.approvals,
      this.#audit,
      this.lists.bytes,
      this.lists.usedNames,
    ];
    for (const part of parts) part.createTable();
    this.#hasTables = true;
  }
}
