import { DurableObject } from "cloudflare:workers";
import type { Reservation, ReservationAnswer } from "../../src/capabilities/budget-ledger.ts";
import type { PolicyChange } from "../../src/capabilities/policy-registry.ts";
import { composeTenant, type TenantPorts } from "../../src/compose/tenant.ts";
import type { RawEnv } from "../../src/env.ts";
import type { BudgetAmounts } from "../../src/protocol/budget.ts";
import { hashText } from "../../src/protocol/canonical-hash.ts";
import { isSamePin, type PolicyPin, type PolicyProposal } from "../../src/protocol/policy-pin.ts";
import { AlarmDeadlines } from "../deadlines.ts";
import { BudgetBook } from "./budget-book.ts";
import { PolicyHead } from "./policy-head.ts";

/** How long the first attempt to publish may take before the alarm makes another. */
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;

/** What a tenant's object does at a time of its own. */
export type TenantDeadline =
  /** Tries again to publish the policy's pointer. */
  | "policy"
  /** Closes reservations that nobody settled. */
  | "reservations"
  /** Deletes what is kept no longer. */
  | "retention";

/**
 * Owns what the runs of one tenant share: which policy is current, and the budgets.
 * Trust: only the Worker and the runs reach it. Limits come from the run, which took them from the
 * policy of the pin it names; the object compares that pin with the current one.
 */
export class TenantObject extends DurableObject<RawEnv> {
  readonly #ports: TenantPorts;
  readonly #head: PolicyHead;
  readonly #book: BudgetBook;
  readonly #deadlines: AlarmDeadlines<TenantDeadline>;
  #publishing: Promise<void> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: RawEnv) {
    super(ctx, env);
    this.#ports = composeTenant(env);
    this.#head = new PolicyHead(ctx.storage);
    this.#book = new BudgetBook(ctx.storage);
    this.#deadlines = new AlarmDeadlines(ctx.storage);
    // The platform gives up on an alarm after six failures; whoever wakes the object arms it again.
    if (this.#head.read()?.isPublished === false) this.#publishIn(FIRST_RETRY_MS);
    this.#deadlines.arm();
  }

  policy(): PolicyPin | undefined {
    return this.#head.read()?.pin;
  }

  /**
   * Replaces the policy if its revision is the expected one: the document first, then the revision,
   * then the pointer, so that no pointer ever names a document that is not there.
   */
  async change({ tenantId, policyText, expectedRevision }: PolicyProposal): Promise<PolicyChange> {
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
    this.#publishIn(FIRST_RETRY_MS);
    const pin = this.#head.advance(tenantId, hash);
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
    if (reservation.unsettled) this.#expectLapse();
    await this.ctx.storage.sync();
    return answer;
  }

  /** Counts what a call has used. */
  async settle(id: string, used: BudgetAmounts): Promise<void> {
    this.#book.settle(id, used, this.#ports.clock.nowMs());
    await this.ctx.storage.sync();
  }

  /** Gives back what a call had reserved. */
  async release(id: string): Promise<void> {
    this.#book.release(id, this.#ports.clock.nowMs());
    await this.ctx.storage.sync();
  }

  /** Meets what is due. Contract: each may be asked too early or twice, and looks for itself what is due. */
  override async alarm(): Promise<void> {
    await this.#publish();
    this.#book.lapse(this.#ports.clock.nowMs());
    this.#deadlines.clear("reservations");
    this.#expectLapse();
    this.#deadlines.arm({ again: true });
  }

  /** An alarm that comes too early moves on; so it need not be set for each reservation. */
  #expectLapse(): void {
    const lapseMs = this.#book.nextLapseMs();
    const atMs = this.#deadlines.at("reservations") ?? Number.POSITIVE_INFINITY;
    if (lapseMs !== undefined && lapseMs < atMs) this.#deadlines.set("reservations", lapseMs);
  }

  /** One at a time, so that an older pointer never lands on a newer one. */
  #publish(): Promise<void> {
    const publish = (): Promise<void> => this.#publishHead();
    this.#publishing = this.#publishing.then(publish, publish);
    return this.#publishing;
  }

  async #publishHead(): Promise<void> {
    const head = this.#head.read();
    if (!head || head.isPublished) return this.#deadlines.clear("policy");
    if (await this.#ports.publisher.point(head.tenantId, head.pin)) {
      this.#head.markPublished(head.pin);
      if (this.#head.read()?.isPublished) this.#deadlines.clear("policy");
    } else {
      const failed = this.#head.countFailure();
      this.#publishIn(Math.min(1_000 * 2 ** failed, MAX_RETRY_MS));
    }
  }

  #publishIn(delayMs: number): void {
    this.#deadlines.set("policy", this.#ports.clock.nowMs() + delayMs);
  }
}
