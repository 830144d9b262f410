import type { TenantPorts } from "../../../src/compose/tenant.ts";
import type { TenantDeadlines } from "../../deadlines.ts";
import type { OriginList } from "./origin-list.ts";
import type { PolicyHead } from "./policy-head.ts";

/** Delay until the alarm repeats the first attempt to publish. */
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;

/** What the publication reads and writes. */
interface PublicationParts extends Pick<TenantPorts, "clock" | "publisher"> {
  readonly head: PolicyHead;
  readonly origins: OriginList;
  readonly deadlines: TenantDeadlines;
}

/**
 * Publishes the current policy and its origins in KV, and tries again until KV takes both.
 * Contract: a deadline is stored before the first attempt, so a crash loses no publication.
 */
export class PolicyPublication {
  readonly #parts: PublicationParts;
  #publishing: Promise<void> = Promise.resolve();

  constructor(parts: PublicationParts) {
    this.#parts = parts;
  }

  /** Plans the next attempt of the alarm. */
  plan(): void {
    this.#retryIn(FIRST_RETRY_MS);
  }

  /** Publishes one pointer at a time, so that an older pointer never replaces a newer one. */
  publish(): Promise<void> {
    const publish = (): Promise<void> => this.#publishHead();
    this.#publishing = this.#publishing.then(publish, publish);
    return this.#publishing;
  }

  async #publishHead(): Promise<void> {
    const { head, origins, publisher } = this.#parts;
    const current = head.read();
    if (!current || current.isPublished) return this.#end();
    const isPointed = await publisher.point(current.tenantId, current.pin);
    if (isPointed && (await origins.publish(current.tenantId, publisher))) {
      head.markPublished(current.pin);
      if (head.read()?.isPublished) this.#end();
    } else {
      this.#retryIn(Math.min(1_000 * 2 ** head.countFailure(), MAX_RETRY_MS));
    }
  }

  #end(): void {
    const { deadlines } = this.#parts;
    if (!deadlines.has("policy")) return;
    deadlines.clear("policy");
    deadlines.arm({ exactly: true });
  }

  #retryIn(delayMs: number): void {
    const { deadlines, clock } = this.#parts;
    deadlines.set("policy", clock.nowMs() + delayMs);
  }
}
