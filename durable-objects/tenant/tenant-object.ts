import { DurableObject } from "cloudflare:workers";
import type {
  AssistantChange,
  AssistantProposal,
  StoredAssistant,
} from "../../src/capabilities/assistant.ts";
import type { Reservation, ReservationAnswer } from "../../src/capabilities/budget.ts";
import type { ApprovalPlace, ApprovalQuery, PlaceAnswer } from "../../src/capabilities/approval.ts";
import type { AuditPage, AuditQuery } from "../../src/capabilities/audit.ts";
import type { PolicyChange } from "../../src/capabilities/policy.ts";
import type { StorageQuery, StorageUse } from "../../src/capabilities/storage.ts";
import type {
  OutcomeQuery,
  RunQuery,
  SentNotice,
  TenantMethods,
} from "../../src/capabilities/tenant.ts";
import { composeTenant, type TenantPorts } from "../../src/compose/tenant.ts";
import type { RawEnv } from "../../src/env.ts";
import type { ApprovalSummary } from "../../src/protocol/approval/view.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { BudgetAmounts } from "../../src/protocol/budget/amounts.ts";
import { hashText } from "../../src/protocol/json/canonical-hash.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import { isSamePin, type PolicyPin, type PolicyProposal } from "../../src/protocol/policy/pin.ts";
import type { RunSummary } from "../../src/protocol/run/summary.ts";
import type { ListPage } from "../../src/protocol/list/page.ts";
import { Deadlines, type TenantDeadline } from "../deadlines.ts";
import { migrateStorage, versionOf, writeVersion, type Layout } from "../storage-version.ts";
import { parseToolPolicy } from "../../src/protocol/policy/document.ts";
import { AssistantList } from "./assistant-list.ts";
import { BudgetBook } from "./budget-book.ts";
import { assistantChanged, policyChanged } from "./change-entries.ts";
import { DeadlineTable } from "./deadline-table.ts";
import { OriginList } from "./origin-list.ts";
import { PolicyHead } from "./policy-head.ts";
import { PolicyPublication } from "./policy-publication.ts";
import { TenantRecords } from "./tenant-records.ts";

/** Versions of the tables of a tenant, and of the JSON in them. */
const LAYOUT: Layout = { oldest: 2, migrations: [] };
/** Interval of the alarm on storage that this code cannot read. */
const REFUSED_RETRY_MS = 60_000;

/**
 * Owns what the runs of one tenant share: the current policy, the budgets, the run directory, the
 * approval queue and the audit log.
 * Trust: only the Worker and the runs reach the object. A run sends the limits of the policy that
 * its pin names; the object compares this pin with the current one.
 * Contract: shapes of RPC hold for one release; see RunMethods.
 */
export class TenantObject extends DurableObject<RawEnv> implements TenantMethods {
  readonly #ports: TenantPorts;
  readonly #tables: TenantTables;
  readonly #publication: PolicyPublication;
  /** The storage has a version and tables. */
  #isClaimed = false;
  /** Why this code cannot read the storage. The object then writes nothing. */
  #refusal: unknown;

  constructor(ctx: DurableObjectState, env: RawEnv) {
    super(ctx, env);
    const { storage } = ctx;
    this.#ports = composeTenant(env);
    this.#tables = {
      head: new PolicyHead(storage),
      book: new BudgetBook(storage),
      records: new TenantRecords(storage),
      origins: new OriginList(storage),
      assistants: new AssistantList(storage),
      deadlines: new Deadlines(storage, new DeadlineTable(storage.sql)),
    };
    this.#publication = new PolicyPublication({ ...this.#tables, ...this.#ports });
    try {
      this.#isClaimed = migrateStorage(storage, LAYOUT);
    } catch (cause) {
      this.#refusal = cause;
      return;
    }
    if (this.#tables.head.read()?.isPublished === false) this.#publication.plan();
    // The platform drops an alarm after six failures, so each incarnation arms it again.
    this.#tables.deadlines.arm();
  }

  async policy(): Promise<PolicyPin | undefined> {
    return this.#pin();
  }

  /**
   * Replaces the policy if its revision is the expected one. Writes the document first, then the
   * revision, then the pointer, so that no pointer ever names a missing document.
   */
  async change(proposal: PolicyProposal): Promise<PolicyChange> {
    const { tenantId, policyText, expectedRevision } = proposal;
    const before = this.#pin();
    if (before?.revision !== expectedRevision) return { kind: "conflict", pin: before };
    const hash = await hashText(policyText);
    const document = { hash, text: policyText };
    if (!(await this.#ports.publisher.storeDocument(tenantId, document))) {
      return { kind: "unavailable" };
    }
    // Another change may have happened while KV stored the document.
    const current = this.#pin();
    if (current?.revision !== expectedRevision) return { kind: "conflict", pin: current };
    this.#claim();
    this.#publication.plan();
    const pin = this.ctx.storage.transactionSync(() => {
      this.#open.origins.replace(parseToolPolicy(JSON.parse(policyText))?.origins ?? []);
      const next = this.#open.head.advance(tenantId, hash);
      this.#open.records.record(policyChanged(proposal, next, this.#ports.clock.nowMs()));
      return next;
    });
    await this.ctx.storage.sync();
    await this.#publication.publish();
    return { kind: "changed", pin };
  }

  async assistants(): Promise<readonly StoredAssistant["pin"][]> {
    return this.#open.assistants.all();
  }

  async assistant(id: string, hash?: string): Promise<StoredAssistant | undefined> {
    return this.#open.assistants.read(id, hash);
  }

  /** Stores or removes an assistant if its revision is the expected one. */
  async changeAssistant(proposal: AssistantProposal): Promise<AssistantChange> {
    const { assistants, records } = this.#open;
    this.#claim();
    const change = this.ctx.storage.transactionSync(() => {
      const made = assistants.change(proposal);
      if (made.kind === "changed") {
        records.record(assistantChanged(proposal, made.pin, this.#ports.clock.nowMs()));
      }
      return made;
    });
    await this.ctx.storage.sync();
    return change;
  }

  /**
   * Reserves what a dispatch may use. The sync waits for the same commit as the platform's output
   * gate. It is explicit because not every caller is behind that gate.
   */
  async reserve(reservation: Reservation): Promise<ReservationAnswer> {
    const pin = this.#pin();
    if (!pin || !isSamePin(pin, reservation.pin)) return { kind: "policy_changed", pin };
    const answer = this.#open.book.reserve(reservation, this.#ports.clock.nowMs());
    if (reservation.unsettled) this.#scheduleLapse();
    await this.ctx.storage.sync();
    return answer;
  }

  /** Tells what a reservation would get now, and reserves nothing. */
  async peek(reservation: Reservation): Promise<ReservationAnswer> {
    const pin = this.#pin();
    if (!pin || !isSamePin(pin, reservation.pin)) return { kind: "policy_changed", pin };
    return this.#open.book.peek(reservation, this.#ports.clock.nowMs());
  }

  /** Settles a reservation: counts the amounts that the call used. */
  async settle(id: string, used: BudgetAmounts): Promise<void> {
    this.#open.book.settle(id, used, this.#ports.clock.nowMs());
    await this.ctx.storage.sync();
  }

  /** Releases a reservation: the call used nothing. */
  async release(id: string): Promise<void> {
    this.#open.book.release(id, this.#ports.clock.nowMs());
    await this.ctx.storage.sync();
  }

  /** Takes a place for an approval that a run is about to request. */
  async takePlace(place: ApprovalPlace): Promise<PlaceAnswer> {
    const { records } = this.#open;
    this.#claim();
    const answer = records.takePlace(place, this.#ports.clock.nowMs());
    await this.ctx.storage.sync();
    return answer;
  }

  /** Stores the notices of a run. Contract: a notice that arrives again changes nothing. */
  async receive(runId: RunId, sent: readonly SentNotice[]): Promise<void> {
    const { records } = this.#open;
    this.#claim();
    records.receive(runId, sent, this.#ports.clock.nowMs());
    this.#scheduleRetention();
    await this.ctx.storage.sync();
  }

  /** Appends an entry to the audit log that belongs to no run. */
  async record(entry: AuditEntry): Promise<void> {
    const { records } = this.#open;
    this.#claim();
    records.record(entry);
    this.#scheduleRetention();
    await this.ctx.storage.sync();
  }

  async runs(query: RunQuery): Promise<ListPage<RunSummary>> {
    return this.#open.records.runs(query);
  }

  async approvals(query: ApprovalQuery): Promise<ListPage<ApprovalSummary>> {
    return this.#open.records.approvals(query, this.#ports.clock.nowMs());
  }

  async outcomes(query: OutcomeQuery): ReturnType<TenantMethods["outcomes"]> {
    return this.#open.records.outcomes(query, this.#ports.clock.nowMs());
  }

  async audit(query: AuditQuery): Promise<AuditPage> {
    return this.#open.records.audit(query);
  }

  async storageUse(query: StorageQuery): Promise<StorageUse> {
    return this.#open.records.storageUse(query, this.#ports.clock.nowMs());
  }

  /**
   * Handles all deadlines. Contract: an alarm may ring too early or twice; each part checks what is
   * due.
   */
  override async alarm(): Promise<void> {
    // The platform drops an alarm that fails six times, and then code that reads the storage
    // would never wake.
    if (this.#refusal !== undefined) {
      return this.ctx.storage.setAlarm(this.#ports.clock.nowMs() + REFUSED_RETRY_MS);
    }
    await this.#publication.publish();
    const nowMs = this.#ports.clock.nowMs();
    this.#open.book.lapse(nowMs);
    this.#open.records.deleteExpired(nowMs, this.#ports.keptMs);
    const { auditKeptMs, auditSigner } = this.#ports;
    await this.#open.records.removeOldAudit(nowMs - auditKeptMs, auditSigner);
    this.#open.deadlines.clear("reservations", "retention");
    this.#scheduleLapse();
    this.#scheduleRetention();
    this.#open.deadlines.arm({ exactly: true });
  }

  /**
   * Sets the alarm only for an earlier lapse. An alarm that rings too early is set again, so a
   * later lapse needs no write here.
   */
  #scheduleLapse(): void {
    this.#schedule("reservations", this.#open.book.nextLapseMs());
  }

  #pin(): PolicyPin | undefined {
    return this.#open.head.read()?.pin;
  }

  /** The tables. Fails: throws when this code cannot read them. */
  get #open(): TenantTables {
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#tables;
  }

  /** Writes the version together with the first table. */
  #claim(): void {
    if (this.#isClaimed) return;
    writeVersion(this.ctx.storage.sql, versionOf(LAYOUT));
    this.#isClaimed = true;
  }

  /** A record that comes now is due after the shortest retention, so an earlier deadline stays. */
  #scheduleRetention(): void {
    const { clock, keptMs, auditKeptMs } = this.#ports;
    const soonestMs = clock.nowMs() + Math.min(keptMs, auditKeptMs);
    if ((this.#open.deadlines.at("retention") ?? Infinity) <= soonestMs) return;
    this.#schedule("retention", this.#open.records.dueMs(this.#ports));
  }

  #schedule(name: TenantDeadline, dueMs: number | undefined): void {
    const atMs = this.#open.deadlines.at(name) ?? Number.POSITIVE_INFINITY;
    if (dueMs !== undefined && dueMs < atMs) this.#open.deadlines.set(name, dueMs);
  }
}

/** The tables of a tenant and their one alarm. */
interface TenantTables {
  readonly head: PolicyHead;
  readonly book: BudgetBook;
  readonly records: TenantRecords;
  readonly origins: OriginList;
  readonly assistants: AssistantList;
  readonly deadlines: Deadlines<TenantDeadline>;
}
