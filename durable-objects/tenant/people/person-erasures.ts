import type { ErasureMethods, ErasureRequest } from "../../../src/capabilities/people.ts";
import type { TenantPorts } from "../../../src/compose/tenant.ts";
import {
  beginErasing,
  eraseNext,
  type ErasureProgress,
  type PersonErasurePorts,
} from "../../../src/conversation/erase-person.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import type { PersonErasure } from "../../../src/protocol/person/erasure.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import type { TenantDeadlines } from "../../deadlines.ts";
import { hasTable } from "../../has-table.ts";
import type { ConsentList } from "../head/consent-list.ts";
import type { RecordTables } from "../records/record-tables.ts";

/** Items that one step asks at once. */
const AT_ONCE = 16;
/** Delay until everything is looked at once more: a run that died tells within this time. */
const ONCE_MORE_MS = 60_000;

interface ErasureParts extends Pick<TenantPorts, "clock" | "runs" | "personWorkspaces"> {
  readonly storage: DurableObjectStorage;
  readonly deadlines: TenantDeadlines;
  readonly tables: RecordTables;
  readonly consents: ConsentList;
  /** Gives the storage its version, before the first write. */
  readonly claim: () => void;
}

/** The state that everybody may read, and the progress as long as the erasure runs. */
interface ErasureRow {
  readonly state: PersonErasure;
  readonly progress?: ErasureProgress;
}

/**
 * Erases people, one step for each ring of the alarm, so that a crash costs one step.
 * Ownership: one per tenant object; the only writer of the `erasures` table.
 * Contract: no row names a person whose erasure has ended.
 */
export class PersonErasures implements ErasureMethods {
  readonly #parts: ErasureParts;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  async erasePerson(request: ErasureRequest): Promise<PersonErasure> {
    const { storage, deadlines, clock, claim } = this.#parts;
    const known = this.#find(request.erasureId);
    if (known?.progress) return known.state;
    const { erasureId } = request;
    const progress = beginErasing(request);
    const beganAt = toIso(clock.nowMs());
    const state: PersonErasure = {
      erasureId,
      status: "running",
      beganAt,
      erased: progress.erased,
      left: [],
      without: [],
    };
    claim();
    storage.sql.exec(
      `CREATE TABLE IF NOT EXISTS erasures (
         id TEXT PRIMARY KEY, is_running INTEGER NOT NULL, body TEXT NOT NULL
       ) WITHOUT ROWID`,
    );
    this.#save({ state, progress });
    deadlines.set("people", clock.nowMs());
    await storage.sync();
    return state;
  }

  async personErasure(erasureId: string): Promise<PersonErasure | undefined> {
    return this.#find(erasureId)?.state;
  }

  /** Takes one step of one erasure. Contract: what was erased stays so, whatever fails. */
  async walk(): Promise<void> {
    const { clock, deadlines } = this.#parts;
    if (!deadlines.due(clock.nowMs()).includes("people")) return;
    const [row] = this.#rows("WHERE is_running = 1 LIMIT 1");
    if (!row?.progress) return deadlines.clear("people");
    const progress = await eraseNext(this.#ports(), row.progress);
    const isOnceMore = row.progress.stage !== "conversations" && progress.stage === "conversations";
    this.#note(row.state, progress);
    deadlines.set("people", clock.nowMs() + (isOnceMore ? ONCE_MORE_MS : 0));
  }

  /** Stores a step; the last one with its receipt. */
  #note(before: PersonErasure, progress: ErasureProgress): void {
    const { storage, tables, consents, clock } = this.#parts;
    const { stage, erased, left, without, personId } = progress;
    const state = { ...before, erased, left, without };
    if (stage !== "ended") return this.#save({ state, progress });
    const status = left.length > 0 ? "incomplete" : "complete";
    const endedAt = toIso(clock.nowMs());
    storage.transactionSync(() => {
      this.#save({ state: { ...state, status, endedAt } });
      consents.forgetPerson(personId);
      if (status === "complete") tables.forgetPerson(personId);
      tables.record(receiptOf({ ...state, status, endedAt }, progress));
    });
  }

  #ports(): PersonErasurePorts {
    const { tables, runs, personWorkspaces } = this.#parts;
    return {
      conversations(person, after) {
        const { items, ...page } = tables.lists.conversations.list({
          person,
          actor: person,
          isDelegate: false,
          isPersonOnly: true,
          limit: AT_ONCE,
          ...(after && { after }),
        });
        return { ...page, items: items.map(({ conversationId }) => conversationId) };
      },
      calls(person, after) {
        const { items, ...page } = tables.lists.runs.list({
          viewer: { person },
          kind: "call",
          limit: AT_ONCE,
          ...(after && { after }),
        });
        return { ...page, items: items.map(({ runId }) => runId) };
      },
      forget: (id: RunId) => tables.erase(id),
      runOf: (runId) => runs.of(runId),
      workspaces: personWorkspaces,
    };
  }

  #find(erasureId: string): ErasureRow | undefined {
    return this.#rows("WHERE id = ?", erasureId)[0];
  }

  #rows(condition: string, ...bindings: readonly string[]): readonly ErasureRow[] {
    const { sql } = this.#parts.storage;
    if (!hasTable(sql, "erasures")) return [];
    return sql
      .exec<{ body: string }>(`SELECT body FROM erasures ${condition}`, ...bindings)
      .toArray()
      .map(({ body }) => JSON.parse(body) as ErasureRow);
  }

  #save(row: ErasureRow): void {
    this.#parts.storage.sql.exec(
      "INSERT OR REPLACE INTO erasures (id, is_running, body) VALUES (?, ?, ?)",
      row.state.erasureId,
      row.progress ? 1 : 0,
      JSON.stringify(row),
    );
  }
}

/** What the audit log keeps of an erasure: ids, counts, and the keyed hash of the person. */
function receiptOf(
  { erasureId, status, endedAt = "", erased, left, without }: PersonErasure,
  { by }: ErasureProgress,
): AuditEntry {
  return {
    action: "person.erased",
    at: endedAt,
    actorId: by,
    decision: status,
    person: { hash: erasureId, ...erased, left: left.length, without },
  };
}
