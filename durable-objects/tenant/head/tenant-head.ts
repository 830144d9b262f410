import type {
  AssistantChange,
  AssistantProposal,
  StoredAssistant,
} from "../../../src/capabilities/assistant.ts";
import type { Reservation, ReservationAnswer } from "../../../src/capabilities/budget.ts";
import type { ConsentQuery, ConsentRevocation } from "../../../src/capabilities/consent.ts";
import type { PolicyChange } from "../../../src/capabilities/policy.ts";
import type { TenantHeadMethods } from "../../../src/capabilities/tenant.ts";
import type { TenantPorts } from "../../../src/compose/tenant.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { BudgetAmounts } from "../../../src/protocol/budget/amounts.ts";
import type { ConsentView } from "../../../src/protocol/consent/consent.ts";
import { hashText } from "../../../src/protocol/json/canonical-hash.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import { parseToolPolicy } from "../../../src/protocol/policy/document.ts";
import {
  isSamePin,
  type PolicyPin,
  type PolicyProposal,
} from "../../../src/protocol/policy/pin.ts";
import type { TenantDeadlines } from "../../deadlines.ts";
import type { NotificationOutbox } from "../notifications/notification-outbox.ts";
import { AssistantList } from "./assistant-list.ts";
import { BudgetBook } from "./budget-book.ts";
import {
  assistantChanged,
  consentGranted,
  consentRevoked,
  policyChanged,
} from "./change-entries.ts";
import type { ConsentList } from "./consent-list.ts";
import { OriginList } from "./origin-list.ts";
import { PolicyHead } from "./policy-head.ts";
import { PolicyPublication } from "./policy-publication.ts";

/** What the head reads and writes outside its own tables. */
export interface HeadParts extends Pick<TenantPorts, "clock" | "publisher"> {
  readonly storage: DurableObjectStorage;
  readonly consents: ConsentList;
  readonly deadlines: TenantDeadlines;
  /** Gives the storage its version, before the first write. */
  readonly claim: () => void;
  /** Notes where the current policy wants people to be told, in the caller's transaction. */
  readonly setPlace: NotificationOutbox["setPlace"];
  /** Appends an entry to the audit log, likewise. */
  readonly record: (entry: AuditEntry) => void;
}

/**
 * What decides about the runs of a tenant: the policy and its origins, the assistants, the budgets.
 * Ownership: one per tenant object. It reaches the records of the tenant by `record` alone, and
 * what people are told by `setPlace`.
 * Contract: a method that writes waits until storage holds what it wrote.
 */
export class TenantHead implements TenantHeadMethods {
  readonly #parts: HeadParts;
  readonly #policy: PolicyHead;
  readonly #origins: OriginList;
  readonly #assistants: AssistantList;
  readonly #budgets: BudgetBook;
  readonly #publication: PolicyPublication;

  constructor(parts: HeadParts) {
    const { storage, consents } = parts;
    this.#parts = parts;
    this.#policy = new PolicyHead(storage);
    this.#origins = new OriginList(storage);
    this.#assistants = new AssistantList(storage);
    this.#budgets = new BudgetBook(storage, consents);
    this.#publication = new PolicyPublication({
      ...parts,
      head: this.#policy,
      origins: this.#origins,
    });
  }

  /** Plans the publication that an earlier incarnation did not finish. */
  resumePublication(): void {
    if (this.#policy.read()?.isPublished === false) this.#publication.plan();
  }

  publish(): Promise<void> {
    return this.#publication.publish();
  }

  async policy(): Promise<PolicyPin | undefined> {
    return this.#pin();
  }

  /**
   * Replaces the policy if its revision is the expected one. Writes the document first, then the
   * revision, then the pointer, so that no pointer ever names a missing document.
   */
  async change(proposal: PolicyProposal): Promise<PolicyChange> {
    const { publisher } = this.#parts;
    const { tenantId, policyText, expectedRevision } = proposal;
    const before = this.#pin();
    if (before?.revision !== expectedRevision) return { kind: "conflict", pin: before };
    const hash = await hashText(policyText);
    if (!(await publisher.storeDocument(tenantId, { hash, text: policyText }))) {
      return { kind: "unavailable" };
    }
    // Another change may have happened while KV stored the document.
    const current = this.#pin();
    if (current?.revision !== expectedRevision) return { kind: "conflict", pin: current };
    this.#parts.claim();
    this.#publication.plan();
    const pin = await this.#commit(() => {
      const { origins = [], notifications } = parseToolPolicy(JSON.parse(policyText)) ?? {};
      this.#origins.replace(origins);
      this.#parts.setPlace(tenantId, notifications);
      const next = this.#policy.advance(tenantId, hash);
      this.#parts.record(policyChanged(proposal, next, this.#nowMs()));
      return next;
    });
    await this.#publication.publish();
    return { kind: "changed", pin };
  }

  async assistants(): Promise<readonly StoredAssistant["pin"][]> {
    return this.#assistants.all();
  }

  async assistant(id: string, hash?: string): Promise<StoredAssistant | undefined> {
    return this.#assistants.read(id, hash);
  }

  /** Stores or removes an assistant if its revision is the expected one. */
  async changeAssistant(proposal: AssistantProposal): Promise<AssistantChange> {
    this.#parts.claim();
    return this.#commit(() => {
      const made = this.#assistants.change(proposal);
      if (made.kind === "changed") {
        this.#parts.record(assistantChanged(proposal, made.pin, this.#nowMs()));
      }
      return made;
    });
  }

  /**
   * Reserves what a dispatch may use. The sync waits for the same commit as the platform's output
   * gate. It is explicit because not every caller is behind that gate.
   */
  async reserve(reservation: Reservation): Promise<ReservationAnswer> {
    const changed = this.#policyChanged(reservation);
    if (changed) return changed;
    const answer = this.#parts.storage.transactionSync(() => this.#reserveNow(reservation));
    if (reservation.unsettled) this.#scheduleLapse();
    await this.#parts.storage.sync();
    return answer;
  }

  /** A consent that the person gave begins with the reservation of the call that they approved. */
  #reserveNow(reservation: Reservation): ReservationAnswer {
    const nowMs = this.#nowMs();
    const answer = this.#budgets.reserve(reservation, nowMs);
    const { grant } = reservation;
    if (answer.kind !== "reserved" || !grant) return answer;
    const { consents, record } = this.#parts;
    if (consents.grant(grant, nowMs)) record(consentGranted(grant, reservation.pin, nowMs));
    return answer;
  }

  async consents(query: ConsentQuery): Promise<ListPage<ConsentView>> {
    return this.#parts.consents.list(query, this.#nowMs());
  }

  async revokeConsent({ id, by, of }: ConsentRevocation): Promise<ConsentView | undefined> {
    const { consents, record } = this.#parts;
    const nowMs = this.#nowMs();
    const known = consents.read(id, nowMs);
    const isListed =
      known &&
      (!of ||
        (known.person === of.person &&
          (of.assistantId === undefined || known.assistantId === of.assistantId)));
    if (!isListed) return undefined;
    if (known.state === "revoked") return known;
    return this.#commit(() => {
      consents.revoke(id, nowMs);
      record(consentRevoked(known, by, nowMs));
      return consents.read(id, nowMs);
    });
  }

  /** Tells what a reservation would get now, and reserves nothing. */
  async peek(reservation: Reservation): Promise<ReservationAnswer> {
    return this.#policyChanged(reservation) ?? this.#budgets.peek(reservation, this.#nowMs());
  }

  /** Settles a reservation: counts the amounts that the call used. */
  async settle(id: string, used: BudgetAmounts): Promise<void> {
    this.#budgets.settle(id, used, this.#nowMs());
    await this.#parts.storage.sync();
  }

  /** Releases a reservation: the call used nothing. */
  async release(id: string): Promise<void> {
    this.#budgets.release(id, this.#nowMs());
    await this.#parts.storage.sync();
  }

  /** Closes the reservations that nobody settled in time. */
  lapse(): void {
    this.#budgets.lapse(this.#nowMs());
    this.#parts.deadlines.clear("reservations");
    this.#scheduleLapse();
  }

  /** Makes a change and its audit record one transaction. */
  async #commit<Made>(change: () => Made): Promise<Made> {
    const { storage } = this.#parts;
    const made = storage.transactionSync(change);
    await storage.sync();
    return made;
  }

  /** A run sends the limits of the policy that it pinned; they count while that is current. */
  #policyChanged(reservation: Reservation): ReservationAnswer | undefined {
    const pin = this.#pin();
    return pin && isSamePin(pin, reservation.pin) ? undefined : { kind: "policy_changed", pin };
  }

  /**
   * Sets the alarm only for an earlier lapse. An alarm that rings too early is set again, so a
   * later lapse needs no write here.
   */
  #scheduleLapse(): void {
    this.#parts.deadlines.setEarlier("reservations", this.#budgets.nextLapseMs());
  }

  #pin(): PolicyPin | undefined {
    return this.#policy.read()?.pin;
  }

  #nowMs(): number {
    return this.#parts.clock.nowMs();
  }
}
