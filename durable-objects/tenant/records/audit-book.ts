import type { AuditArchive, AuditPage, AuditQuery } from "../../../src/capabilities/audit.ts";
import type { TenantPorts } from "../../../src/compose/tenant.ts";
import { checkpointText } from "../../../src/protocol/audit/checkpoint.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import type { AuditLog } from "./audit-log.ts";
import { unpackHash } from "./audit-rows.ts";
import { AuditSummaries, isMoving, type Segment } from "./audit-summaries.ts";

/** What the audit log of a tenant reads and writes outside its own tables. */
export interface BookParts extends Pick<
  TenantPorts,
  "clock" | "auditSigner" | "archives" | "segmentBytes"
> {
  readonly storage: DurableObjectStorage;
  readonly log: AuditLog;
  /** Id of the tenant's object. */
  readonly owner: string;
}

/**
 * The audit log of a tenant over all of its objects. The tenant's object adds each record, so the
 * chain has one writer. When the log is large, its records become a segment: they are closed with a
 * signed checkpoint, and move to an object of their own, an archive, while new ones are added.
 * Ownership: one per tenant object; `archive` and the retention belong to its alarm.
 */
export class AuditBook {
  readonly log: AuditLog;
  readonly summaries: AuditSummaries;
  readonly #parts: BookParts;

  constructor(parts: BookParts) {
    this.#parts = parts;
    this.log = parts.log;
    this.summaries = new AuditSummaries(parts.storage);
  }

  /** Reads a page. A page ends where a segment does; for one run it searches all segments. */
  async read(query: AuditQuery): Promise<AuditPage> {
    const first = await this.#readPart(query);
    let page = first;
    while (query.runId !== undefined && page.items.length === 0 && page.next !== undefined) {
      page = await this.#readPart({ ...query, after: page.next });
    }
    return { ...page, ...(first.removed && { removed: first.removed }) };
  }

  async #readPart(query: AuditQuery): Promise<AuditPage> {
    const { log, summaries } = this;
    const head = log.head();
    const removed = summaries.removed();
    const isCutBefore = removed !== undefined && query.after < removed.lastSeq;
    const after = isCutBefore ? removed.lastSeq : query.after;
    const segments = summaries.segments();
    const segment = segments.find(({ checkpoint }) => checkpoint.lastSeq > after);
    const endSeq = segment?.checkpoint.lastSeq;
    const isMoved = segment !== undefined && after < segment.moved.seq;
    const start = summaries.startAfter(
      isMoved ? segments.slice(0, segments.indexOf(segment)) : segments,
    );
    const lastSeq = isMoved ? segment.moved.seq : (endSeq ?? head.seq);
    const stretch = { ...query, after, start, lastSeq };
    const { items, next = lastSeq } = isMoved
      ? await this.archiveOf(segment).read(stretch)
      : log.read(stretch);
    // The retention removed some of these records meanwhile.
    if ((summaries.removed()?.lastSeq ?? 0) > after) return this.#readPart(query);
    return {
      items,
      head,
      ...(next < head.seq && { next }),
      ...(isCutBefore && { removed }),
      ...(segment && next === endSeq && { checkpoint: segment.checkpoint }),
    };
  }

  /** Time of the oldest record that may be removed; undefined when there is none. */
  oldestMs(): number | undefined {
    return this.summaries.segments()[0]?.oldestMs ?? this.log.oldestMs();
  }

  /** Tells whether there are records to close or to move. */
  isLarge(): boolean {
    return this.log.bytes() >= this.#parts.segmentBytes || this.#moving() !== undefined;
  }

  /**
   * Closes a segment, or moves records of the closed one to its archive.
   * Contract: a crash at any write loses, repeats and forks nothing: records leave this object in
   * the transaction that notes that the archive has them. A failure moves nothing.
   */
  async archive(): Promise<void> {
    const segment = this.#moving();
    if (segment) await this.#move(segment);
    else if (this.isLarge()) await this.#close();
  }

  archiveOf({ place }: Segment): AuditArchive {
    const { archives, owner } = this.#parts;
    return archives.of(place, owner);
  }

  /** Closes all records but the newest, which the next one follows. */
  async #close(): Promise<void> {
    const { auditSigner, archives, clock } = this.#parts;
    const start = this.summaries.startAfter(this.summaries.segments());
    const { seq: lastSeq, hash: lastHash } = this.log.beforeHead();
    const checkpoint = {
      count: lastSeq - start.seq,
      firstSeq: start.seq + 1,
      lastSeq,
      lastHash,
      closedAt: toIso(clock.nowMs()),
      key: await auditSigner.publicKey(),
    };
    const signature = await auditSigner.sign(checkpointText(checkpoint));
    this.summaries.putSegment({
      place: archives.newPlace(),
      moved: start,
      oldestMs: this.log.oldestMs() ?? 0,
      checkpoint: { ...checkpoint, signature },
    });
  }

  async #move(segment: Segment): Promise<void> {
    const { lastSeq, lastHash } = segment.checkpoint;
    const rows = this.log.rows({ after: segment.moved.seq, lastSeq });
    if (!(await this.archiveOf(segment).keep(rows))) return;
    const last = rows.at(-1);
    const moved = last
      ? { seq: last.seq, hash: unpackHash(last.hash) }
      : { seq: lastSeq, hash: lastHash };
    this.#parts.storage.transactionSync(() => {
      this.summaries.putSegment({ ...segment, moved });
      this.log.deleteUpTo(moved.seq);
    });
  }

  #moving(): Segment | undefined {
    return this.summaries.segments().find(isMoving);
  }
}
