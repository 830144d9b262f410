import { DurableObject } from "cloudflare:workers";
import type {
  Charge,
  Reservation,
  ReservationAnswer,
} from "../../src/capabilities/budget-ledger.ts";
import type { PolicyChange } from "../../src/capabilities/policy-registry.ts";
import { composeTenant, type TenantPorts } from "../../src/compose/tenant.ts";
import type { RawEnv } from "../../src/env.ts";
import { hashText } from "../../src/protocol/canonical-hash.ts";
import { isSamePin, type PolicyPin, type PolicyProposal } from "../../src/protocol/policy-pin.ts";
import { parseToolPolicy } from "../../src/protocol/tool-policy.ts";
import { BudgetBook } from "./budget-book.ts";
import { OriginList } from "./origin-list.ts";
import { PolicyHead } from "./policy-head.ts";

/** How long the first attempt to publish may take before the alarm makes another. */
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;

/**
 * Owns what the runs of one tenant share: which policy is current, and the budgets.
 * Trust: only the Worker and the runs reach it. Limits come from the run, which took them from the
 * policy of the pin it names; the object compares that pin with the current one.
 */
export class TenantObject extends DurableObject<RawEnv> {
  readonly #ports: TenantPorts;
  readonly #head: PolicyHead;
  readonly #book: BudgetBook;
  readonly #origins: OriginList;
  #publishing: Promise<void> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: RawEnv) {
    super(ctx, env);
    this.#ports = composeTenant(env);
    this.#head = new PolicyHead(ctx.storage);
    this.#book = new BudgetBook(ctx.storage);
    this.#origins = new OriginList(ctx.storage);
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
    const armed = this.#publishIn(FIRST_RETRY_MS);
    const pin = this.ctx.storage.transactionSync(() => {
      this.#origins.replace(parseToolPolicy(JSON.parse(policyText))?.origins ?? []);
      return this.#head.advance(tenantId, hash);
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

  /** Publishes a pointer that does not stand yet. */
  override async alarm(): Promise<void> {
    await this.#publish();
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
    const { publisher } = this.#ports;
    const isPointed = await publisher.point(head.tenantId, head.pin);
    if (isPointed && (await this.#origins.publish(head.tenantId, publisher))) {
      this.#head.markPublished(head.pin);
      if (this.#head.read()?.isPublished) await this.ctx.storage.deleteAlarm();
    } else {
      const failed = this.#head.countFailure();
      await this.#publishIn(Math.min(1_000 * 2 ** failed, MAX_RETRY_MS));
    }
  }

  #publishIn(delayMs: number): Promise<void> {
    return this.ctx.storage.setAlarm(this.#ports.clock.nowMs() + delayMs);
  }
}
