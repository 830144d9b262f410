import type {
  EscalationAct,
  EscalationAnswer,
  EscalationQuery,
} from "../../../src/capabilities/tenant.ts";
import {
  ESCALATION_REASONS,
  type Escalation,
  type EscalationReason,
  type EscalationRemedy,
  type EscalationState,
} from "../../../src/protocol/escalation/escalation.ts";
import type { ActorId } from "../../../src/protocol/identity/ids.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import { hasTable } from "../../has-table.ts";
import { lookThrough, mostRows, ofAssistant } from "./look-through.ts";

/** What a notice tells about something that a run cannot settle. */
export type EscalationDraft = Omit<
  Escalation,
  "id" | "state" | "count" | "openedAt" | "takenBy" | "takenAt" | "note"
>;

/** How an escalation ended without anybody settling it in the list. */
export interface Settlement {
  readonly as: string;
  readonly by?: ActorId | undefined;
  readonly atMs: number;
}

/** How long escalations are kept. Unit: milliseconds. */
interface EscalationRetention {
  /** Of settled ones. */
  readonly keptMs: number;
  /** Of those that nobody settled. */
  readonly auditKeptMs: number;
}

type Row = { number: number; reason: EscalationReason; opened_ms: number; body: string };
type LookedAt = Omit<Row, "body"> & { body: string | null };

/** The filters of a list, by the numbers of what `list` binds. */
const FITS = `iif(?1 IS NULL, state <> 'settled', state = ?1) AND (?2 IS NULL OR reason = ?2)
  AND (?3 IS NULL OR escalations.body ->> 'toolId' = ?3)
  AND (?4 IS NULL OR escalations.body ->> 'requestedBy' = ?4)
  AND ${ofAssistant("escalations.run_id", "?5")}`;

/** What the columns do not say. */
type Body = Omit<Escalation, "id" | "reason" | "openedAt">;

/**
 * What the runs of a tenant cannot settle themselves, one row for each reason and call, or for each
 * reason and tool where no single call decides.
 * Ownership: one per tenant object; the only writer of the `escalations` table.
 * Contract: synchronous; the first escalation creates the table.
 */
export class EscalationList {
  readonly #sql: SqlStorage;
  /** Undefined until it is looked up. */
  #hasTable: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Opens an escalation, or counts one call more. Answers it when it is new. */
  open(draft: EscalationDraft, nowMs: number): Escalation | undefined {
    if (!this.#exists) this.#createTable();
    const { reason, ...rest } = draft;
    const known = this.#find("run_id = ? AND about = ? AND reason = ?", ...keyOf(draft));
    if (known) {
      const { count } = known;
      if (isOfOneCall(reason)) return this.#openAgain(known, rest);
      this.#write({ ...known, ...rest, count: count + 1 });
      return undefined;
    }
    const body: Body = { ...rest, state: "open", count: 1 };
    const { number } = this.#sql
      .exec<Row>(
        `INSERT INTO escalations (run_id, about, reason, state, opened_ms, changed_ms, body)
         VALUES (?, ?, ?, 'open', ?, ?, ?) RETURNING *`,
        ...keyOf(draft),
        nowMs,
        nowMs,
        JSON.stringify(body),
      )
      .one();
    return this.#find("number = ?", number);
  }

  /** A call waits for another decision after one was taken back. Nobody is told twice. */
  #openAgain(known: Escalation, rest: Omit<EscalationDraft, "reason">): undefined {
    if (remedyOf(known) !== "decide" || known.state !== "settled") return;
    const { settledBy: _settledBy, settledAt: _settledAt, settledAs: _settledAs, ...open } = known;
    this.#write({ ...open, ...rest, state: "open" });
  }

  /** Settles what a report or a decision about a call settled. */
  settle(runId: string, invocationId: string, settlement: Settlement): void {
    if (!this.#exists) return;
    for (const one of this.#openOf(runId)) {
      if (one.invocationId === invocationId) this.#write(settled(one, settlement), settlement.atMs);
    }
  }

  /** Settles what a run reports no longer, without a word of how it ended. */
  closeMissing(runId: string, invocationIds: ReadonlySet<string>, atMs: number): void {
    if (!this.#exists) return;
    for (const one of this.#openOf(runId)) {
      if (remedyOf(one) === "decide") continue;
      if (invocationIds.has(one.invocationId ?? "")) continue;
      this.#write(settled(one, { as: "closed", atMs }), atMs);
    }
  }

  /** Does what a person asks for. `done` is new when it changed something. */
  act(act: EscalationAct, nowMs: number): EscalationAnswer & { readonly isNew?: true } {
    const known = this.#exists ? this.#find("number = ?", act.number) : undefined;
    if (!known) return { kind: "unknown" };
    if (isRepeated(act, known)) return { kind: "done", escalation: known };
    if (known.state === "settled") return { kind: "settled" };
    const { takenBy } = known;
    const mayHold = takenBy === undefined || takenBy === act.by || takenBy === act.from;
    if (!mayHold) return { kind: "held", takenBy };
    if (act.action === "settle" && remedyOf(known) !== "settle") return { kind: "needs_report" };
    const escalation = changed(known, act, nowMs);
    this.#write(escalation, nowMs);
    return { kind: "done", escalation, isNew: true };
  }

  /** Lists escalations, the oldest first. */
  list(query: EscalationQuery): ListPage<Escalation> {
    if (!this.#exists) return { items: [] };
    const { state, reason, tool, person, assistant, limit, after } = query;
    const most = mostRows(query);
    const rows = this.#sql.exec<LookedAt>(
      `SELECT number, reason, opened_ms, iif(${FITS}, escalations.body, NULL) AS body
       FROM escalations WHERE number > ?6 AND (?7 > 0 OR ${FITS}) ORDER BY number LIMIT ?7`,
      state ?? null,
      reason ?? null,
      tool ?? null,
      person ?? null,
      assistant ?? null,
      Number(after?.id ?? 0),
      most,
    );
    return lookThrough(rows, {
      limit,
      most,
      itemOf: toEscalation,
      positionOf: ({ opened_ms: atMs, number }) => ({ atMs, id: String(number) }),
    });
  }

  /** Deletes what the list holds of a run. */
  erase(runId: string): void {
    if (this.#exists) this.#sql.exec("DELETE FROM escalations WHERE run_id = ?", runId);
  }

  /** Deletes those whose retention has ended. */
  forget(nowMs: number, kept: EscalationRetention, limit: number): void {
    if (!this.#exists) return;
    this.#sql.exec(
      `DELETE FROM escalations WHERE number IN (
         SELECT number FROM escalations WHERE ${DUE} < ?3 ORDER BY changed_ms LIMIT ?4)`,
      kept.keptMs,
      kept.auditKeptMs,
      nowMs,
      limit,
    );
  }

  /** Counts those that are not settled. */
  countOpen(): number {
    if (!this.#exists) return 0;
    const open = "SELECT count(*) AS open FROM escalations WHERE state <> 'settled'";
    return this.#sql.exec<{ open: number }>(open).one().open;
  }

  /** When the retention of the next one ends; undefined without any. */
  dueMs({ keptMs, auditKeptMs }: EscalationRetention): number | undefined {
    if (!this.#exists) return undefined;
    const next = `SELECT min(${DUE}) AS at FROM escalations`;
    return this.#sql.exec<{ at: number | null }>(next, keptMs, auditKeptMs).one().at ?? undefined;
  }

  #openOf(runId: string): readonly Escalation[] {
    const all = this.#sql.exec<Row>(
      "SELECT * FROM escalations WHERE run_id = ? AND state <> 'settled'",
      runId,
    );
    return all
      .toArray()
      .map(toEscalation)
      .filter((one) => remedyOf(one) !== "settle");
  }

  #find(where: string, ...values: SqlStorageValue[]): Escalation | undefined {
    const rows = this.#sql.exec<Row>(`SELECT * FROM escalations WHERE ${where}`, ...values);
    const [row] = rows.toArray();
    return row && toEscalation(row);
  }

  #write({ id, reason: _reason, openedAt: _openedAt, ...body }: Escalation, atMs?: number): void {
    this.#sql.exec(
      `UPDATE escalations SET state = ?2, body = ?3, changed_ms = coalesce(?4, changed_ms)
       WHERE number = ?1`,
      Number(id.slice(ID.length)),
      body.state,
      JSON.stringify(body),
      atMs ?? null,
    );
  }

  get #exists(): boolean {
    return (this.#hasTable ??= hasTable(this.#sql, "escalations"));
  }

  #createTable(): void {
    this.#sql.exec(
      `CREATE TABLE escalations (
         number INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, about TEXT NOT NULL,
         reason TEXT NOT NULL, state TEXT NOT NULL, opened_ms INTEGER NOT NULL,
         changed_ms INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (run_id, about, reason)
       );
       CREATE INDEX escalations_by_age ON escalations (state, opened_ms);`,
    );
    this.#hasTable = true;
  }
}

const ID = "esc_";
/** When the retention of a row ends. */
const DUE = "changed_ms + iif(state = 'settled', ?1, ?2)";

function toEscalation({ number, reason, opened_ms: openedMs, body }: Row): Escalation {
  const rest = JSON.parse(body) as Body;
  return { id: `${ID}${number}`, reason, openedAt: toIso(openedMs), ...rest };
}

function remedyOf({ reason }: Pick<Escalation, "reason">): EscalationRemedy {
  return ESCALATION_REASONS[reason];
}

/** A report or a decision about one call settles it, so each call has a row of its own. */
function isOfOneCall(reason: EscalationReason): boolean {
  return remedyOf({ reason }) !== "settle" || reason === "verification_unknown";
}

function keyOf(draft: EscalationDraft): [string, string, string] {
  const { runId, invocationId = "", toolId = "", reason } = draft;
  return [runId, isOfOneCall(reason) ? invocationId : toolId, reason];
}

function settled(known: Escalation, { as, by, atMs }: Settlement): Escalation {
  const whose = by !== undefined && { settledBy: by };
  return { ...known, state: "settled", settledAt: toIso(atMs), settledAs: as, ...whose };
}

const LEADS_TO: Readonly<Record<EscalationAct["action"], EscalationState>> = {
  take: "taken",
  release: "open",
  settle: "settled",
};

/** Nothing would change. */
function isRepeated({ action, by }: EscalationAct, known: Escalation): boolean {
  const whose = action === "take" ? known.takenBy : action === "settle" ? known.settledBy : by;
  return known.state === LEADS_TO[action] && whose === by;
}

function changed(known: Escalation, act: EscalationAct, nowMs: number): Escalation {
  const { takenBy: _takenBy, takenAt: _takenAt, ...rest } = known;
  const note = act.note === undefined ? {} : { note: act.note };
  if (act.action === "release") return { ...rest, ...note, state: "open" };
  if (act.action === "settle") {
    return settled({ ...known, ...note }, { as: "settled", by: act.by, atMs: nowMs });
  }
  return { ...rest, ...note, state: "taken", takenBy: act.by, takenAt: toIso(nowMs) };
}
