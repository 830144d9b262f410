import { DurableObject } from "cloudflare:workers";
import type {
  Charge,
  Reservation,
  ReservationAnswer,
} from "../../src/capabilities/budget-ledger.ts";
import type { ApprovalQuery } from "../../src/capabilities/approval-queue.ts";
import type { AuditPage, AuditQuery } from "../../src/capabilities/audit-trail.ts";
import type { PolicyChange } from "../../src/capabilities/policy-registry.ts";
import type { RunQuery } from "../../src/capabilities/run-directory.ts";
import type { SentNotice } from "../../src/capabilities/tenant-inbox.ts";
import { composeTenant, type TenantPorts } from "../../src/compose/tenant.ts";
import type { RawEnv } from "../../src/env.ts";
import type { ApprovalSummary } from "../../src/protocol/approval-view.ts";
import type { AuditEntry } from "../../src/protocol/audit-entry.ts";
import { hashText } from "../../src/protocol/canonical-hash.ts";
import type { RunId } from "../../src/protocol/ids.ts";
import { isSamePin, type PolicyPin, type PolicyProposal } from "../../src/protocol/policy-pin.ts";
import type { RunSummary } from "../../src/protocol/run-summary.ts";
import type { Slice } from "../../src/protocol/slice.ts";
import { BudgetBook } from "./budget-book.ts";
import { PolicyHead } from "./policy-head.ts";
import { TenantRecords } from "./tenant-records.ts";

/** How long the first attempt to publish may take before the alarm makes another. */
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;

/**
 * Owns what the runs of one tenant share: which policy is current, the budgets, and what they told of themselves.
 * Trust: only the Worker and the runs reach it. Limits come from the run, which took them from the
 * policy of the pin it names; the object compares that pin with the current one.
 */
export class TenantObject extends DurableObject<RawEnv> {
  readonly #ports: TenantPorts;
  readonly #head: PolicyHead;
  readonly #book: BudgetBook;
  readonly #records: TenantRecords;
  #publishing: Promise<void> = Promise.resolve();
  /** When the alarm is set for, if it is set to clear away. */
  #retentionMs: number | undefined;

  constructor(ctx: DurableObjectState, env: RawEnv) {
    super(ctx, env);
    this.#ports = composeTenant(env);
    this.#head = new PolicyHead(ctx.storage);
    this.#book = new BudgetBook(ctx.storage);
    this.#records = new TenantRecords(ctx.storage);
    // The platform gives up on an alarm after six failures; whoever wakes the object arms it again.
    if (this.#head.read()?.isPublished === false) void this.#publishIn(FIRST_RETRY_MS);
  }

  policy(): PolicyPin | undefined {
    return this.#head.read()?.pin;
  }

  /**
   * Replaces the policy if its revision is the expected one: the document first, then the revision,
   * then the pointer, so that no pointer ever names a document that is not there.
   */
  async change(proposal: PolicyProposal): Promise<PolicyChange> {
    const { tenantId, policyText, expectedRevision } = proposal;
    const before = this.policy();
    if (before?.revision !== expectedRevision) return { kind: "conflict", pin: before };
    const hash = await hashText(policyText);
    const document = { hash, text: policyText };
    if (!(await this.#ports.publisher.storeDocument(tenantId, document))) {
      return { kind: "unavailable" };
    }
    // Another change may have come in while KV stored the document.
    const current = this.policy();
    if (current?.revision !== expectedRevision) return { kind: "conflict", pin: current };
    const armed = this.#publishIn(FIRST_RETRY_MS);
    const pin = this.ctx.storage.transactionSync(() => {
      const next = this.#head.advance(tenantId, hash);
      this.#records.record(policyChanged(proposal, next, this.#ports.clock.nowMs()));
      return next;
    });
    await armed;
    await this.ctx.storage.sync();
    await this.#publish();
    return { kind: "changed", pin };
  }

  /**
   * Takes what a dispatch is about to use up. The sync waits for the very commit that the platform's
   * output gate would hold the answer for; it says so here, and holds for callers that no gate guards.
   */
  async reserve(reservation: Reservation): Promise<ReservationAnswer> {
    const pin = this.policy();
    if (!pin || !isSamePin(pin, reservation.pin)) return { kind: "policy_changed", pin };
    const answer = this.#book.reserve(reservation, this.#ports.clock.nowMs());
    await this.ctx.storage.sync();
    return answer;
  }

  /** Counts what a run has used up. */
  async charge(charge: Charge): Promise<void> {
    this.#book.charge(charge, this.#ports.clock.nowMs());
    await this.ctx.storage.sync();
  }

  /** Takes what a run tells. Contract: a notice that comes again changes nothing. */
  async receive(runId: RunId, sent: readonly SentNotice[]): Promise<void> {
    this.#records.receive(runId, sent, this.#ports.clock.nowMs());
    await this.#armRetention();
    await this.ctx.storage.sync();
  }

  /** Appends a fact to the audit log that no run tells. */
  async record(entry: AuditEntry): Promise<void> {
    this.#records.record(entry);
    await this.ctx.storage.sync();
  }

  runs(query: RunQuery): Slice<RunSummary> {
    return this.#records.runs(query);
  }

  approvals(query: ApprovalQuery): Slice<ApprovalSummary> {
    return this.#records.approvals(query, this.#ports.clock.nowMs());
  }

  audit(query: AuditQuery): AuditPage {
    return this.#records.audit(query);
  }

  /** Publishes a pointer that does not stand yet, and clears away what is kept no longer. */
  override async alarm(): Promise<void> {
    this.#retentionMs = undefined;
    await this.#publish();
    this.#records.tidy(this.#ports.clock.nowMs(), this.#ports.keptMs);
    await this.#armRetention();
  }

  /** One at a time, so that an older pointer never lands on a newer one. */
  #publish(): Promise<void> {
    const publish = (): Promise<void> => this.#publishHead();
    this.#publishing = this.#publishing.then(publish, publish);
    return this.#publishing;
  }

  async #publishHead(): Promise<void> {
    const head = this.#head.read();
    if (!head || head.isPublished) return;
    if (await this.#ports.publisher.point(head.tenantId, head.pin)) {
      this.#head.markPublished(head.pin);
      if (this.#isPublished) await this.ctx.storage.deleteAlarm();
      this.#retentionMs = undefined;
      await this.#armRetention();
    } else {
      const failed = this.#head.countFailure();
      await this.#publishIn(Math.min(1_000 * 2 ** failed, MAX_RETRY_MS));
    }
  }

  get #isPublished(): boolean {
    return this.#head.read()?.isPublished !== false;
  }

  /** The alarm is the publisher's for as long as a pointer does not stand; then it clears away. */
  async #armRetention(): Promise<void> {
    const dueMs = this.#records.dueMs(this.#ports.keptMs);
    if (!this.#isPublished || dueMs === undefined || dueMs === this.#retentionMs) return;
    this.#retentionMs = dueMs;
    await this.ctx.storage.setAlarm(dueMs);
  }

  #publishIn(delayMs: number): Promise<void> {
    return this.ctx.storage.setAlarm(this.#ports.clock.nowMs() + delayMs);
  }
}

function policyChanged({ by }: PolicyProposal, pin: PolicyPin, nowMs: number): AuditEntry {
  return {
    action: "policy.changed",
    at: new Date(nowMs).toISOString(),
    ...by,
    policyHash: pin.hash,
    policyRevision: pin.revision,
  };
}
