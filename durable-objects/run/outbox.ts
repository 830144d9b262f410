import type { SentNotice } from "../../src/capabilities/tenant.ts";
import type { TenantNotice } from "../../src/protocol/run/tenant-notice.ts";
import type { LoggedState, Publication } from "./logged-state.ts";
import type { RunLog } from "./run-log.ts";

/** Limits of one batch for the tenant's object; a single notice may be larger. */
const MAX_NOTICES = 50;
/** Unit: UTF-16 code units of JSON. */
const MAX_CHARS = 256 * 1024;
/** More notices than a run can send per millisecond between its start and its deletion. */
const NOTICES_PER_MS = 1_000;

/** Where the outbox is stored: entries in the log, and the last delivered notice in the row. */
export interface OutboxStore {
  readonly log: RunLog;
  saveDelivered(seq: number): void;
}

/**
 * Everything that leaves the run: publications for KV, and notices for the object of the tenant. An
 * entry commits together with the write that caused it, so a crash loses no entry.
 * Ownership: one per run object; the only writer of these entries of the log.
 * Contract: an entry stays until its delivery, and may be delivered more than once. Numbers only
 * grow, and no number is used twice. They begin at the creation time, so this holds even when the
 * run is deleted and started again under the same id.
 */
export class Outbox {
  readonly #store: OutboxStore;
  #publications: Publication[];
  #notices: SentNotice[];
  #lastSeq: number;
  #listener = (): void => {};
  /** Writes that wait for `store`; undefined while each is made at once. */
  #held: (() => void)[] | undefined;

  constructor(store: OutboxStore, logged: LoggedState, createdMs: number) {
    this.#store = store;
    this.#publications = [...logged.publications];
    this.#notices = [...logged.notices];
    this.#lastSeq = Math.max(logged.lastSeq, createdMs * NOTICES_PER_MS);
  }

  /** Adds a publication: of a call, or of the run without one. */
  put(invocation: number | null = null): void {
    const publication = { seq: this.#lastSeq + 1, invocation };
    this.#store.log.put({ kind: "publication", ...publication });
    this.#lastSeq++;
    this.#publications.push(publication);
  }

  /**
   * Adds a notice for the tenant's object. The notice leaves after the writes of its turn are
   * stored.
   */
  notify(notice: TenantNotice): void {
    const sent = { seq: this.#lastSeq + 1, notice };
    this.#store.log.put({ kind: "notice", ...sent });
    this.#lastSeq++;
    this.#notices.push(sent);
    this.#listener();
  }

  /** Calls the listener in the turn of each new notice. */
  listen(listener: () => void): void {
    this.#listener = listener;
  }

  /** The next publication; undefined when there is none. */
  first(): Publication | undefined {
    return this.#publications[0];
  }

  /** The next batch of notices, in order. */
  notices(): readonly SentNotice[] {
    let room = MAX_CHARS;
    const taken: SentNotice[] = [];
    for (const sent of this.#notices.slice(0, MAX_NOTICES)) {
      room -= JSON.stringify(sent.notice).length;
      if (taken.length > 0 && room < 0) break;
      taken.push(sent);
    }
    return taken;
  }

  isEmpty(): boolean {
    return this.#publications.length === 0 && this.#notices.length === 0;
  }

  hasNotices(): boolean {
    return this.#notices.length > 0;
  }

  remove(seq: number): void {
    this.#write(() => this.#store.log.put({ kind: "delivered", seq }));
    this.#publications = this.#publications.filter((publication) => publication.seq !== seq);
  }

  /** Removes the notices up to one that was delivered. */
  removeNotices(lastSeq: number): void {
    this.#write(() => this.#store.saveDelivered(lastSeq));
    this.#notices = this.#notices.filter(({ seq }) => seq > lastSeq);
  }

  /** Keeps in memory what is delivered from now on. A crash before `store` delivers it again. */
  hold(): void {
    this.#held ??= [];
  }

  /** Stores what was delivered since `hold`. */
  store(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const write of held) write();
  }

  #write(write: () => void): void {
    if (this.#held) this.#held.push(write);
    else write();
  }

  /** Stores what is left after the log was emptied: the notices, and the last number. */
  restore(): void {
    this.#publications = [];
    const { log } = this.#store;
    log.batch(() => {
      log.put({ kind: "delivered", seq: this.#lastSeq });
      for (const sent of this.#notices) log.put({ kind: "notice", ...sent });
    });
  }
}
