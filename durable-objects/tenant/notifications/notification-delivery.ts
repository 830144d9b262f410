import type {
  NotificationMethods,
  NotificationQuery,
  NotificationSender,
} from "../../../src/capabilities/notification.ts";
import type { Clock } from "../../../src/capabilities/system.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import type { UndeliveredNotification } from "../../../src/protocol/notification/notification.ts";
import type { TenantDeadlines } from "../../deadlines.ts";
import type {
  DueNotification,
  NotificationOutbox,
  NotificationTarget,
} from "./notification-outbox.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Delay after each failed attempt. A notification is dead when the last one has failed. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  4 * HOUR_MS,
  12 * HOUR_MS,
];
/** Deliveries of one alarm, at the same time. The platform allows six connections. */
const MAX_AT_ONCE = 3;

interface DeliveryParts {
  readonly outbox: NotificationOutbox;
  readonly sender: NotificationSender;
  readonly clock: Clock;
  readonly storage: DurableObjectStorage;
  readonly deadlines: TenantDeadlines;
}

/**
 * Delivers what people are told of, and tries again until the receiver has it or the last attempt
 * has failed.
 * Contract: at least once. An attempt is stored before it begins, so a crash neither loses a
 * notification nor repeats it without end.
 */
export class NotificationDelivery implements NotificationMethods {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** Sets the alarm for the next attempt. */
  plan(): void {
    const { outbox, deadlines } = this.#parts;
    deadlines.setEarlier("notifications", outbox.nextMs());
  }

  /** Makes the attempts that are due, a few of them. */
  async deliver(): Promise<void> {
    const { outbox, clock, deadlines } = this.#parts;
    const due = outbox.due(clock.nowMs(), MAX_AT_ONCE);
    const place = outbox.place();
    await Promise.all(due.map((one) => this.#attempt(one, place)));
    deadlines.clear("notifications");
    this.plan();
  }

  async notifications(query: NotificationQuery): Promise<ListPage<UndeliveredNotification>> {
    return this.#parts.outbox.list(query);
  }

  /** Tries one at once. */
  async retryNotification(id: string): Promise<boolean> {
    const { outbox, clock, storage } = this.#parts;
    const isKnown = outbox.retry(id, clock.nowMs());
    this.plan();
    await storage.sync();
    return isKnown;
  }

  async #attempt(one: DueNotification, place: NotificationTarget | undefined): Promise<void> {
    const { outbox, sender, clock, storage } = this.#parts;
    const delayMs = place && RETRY_DELAYS_MS[one.attempts];
    outbox.noteAttempt(one.id, delayMs === undefined ? null : clock.nowMs() + delayMs);
    if (!place) return outbox.noteFailure(one.id, "no_place");
    await storage.sync();
    const sent = await sender.send(place, one);
    if (sent.ok) outbox.remove(one.id);
    else outbox.noteFailure(one.id, sent.failure);
  }
}
