import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunTables } from "./run-tables.ts";

/** Refusals of one kind that are recorded in full. */
const FULL_PER_KIND = 3;
/** Size of all refusals of a run that are recorded in full. Unit: UTF-16 code units of JSON. */
const FULL_CHARS = 64 * 1024;
/** Kinds that are counted apart. All others count together. */
const MAX_KINDS = 32;
/** Ends of a call whose tool ran. */
const RAN: ReadonlySet<string> = new Set(["execute", "output"]);

/** Refusals of one kind that are not reported yet. */
type CountedRefusals = Pick<
  AuditEntry,
  "toolId" | "toolVersion" | "gates" | "outcome" | "reason"
> & { readonly count: number; readonly since: string; readonly at: string };

type TallyRow = {
  kind: string;
  seen: number;
  full_chars: number;
  count: number;
  since: string;
  at: string;
};

/**
 * Counts the refused calls of a run by kind: tool, gate, outcome and reason. The first ones of each
 * kind are recorded in full.
 * Threat: a person lets a model make thousands of calls that are refused, to fill the audit log.
 * Ownership: one per run object; the only writer of the `refusals` table.
 * Contract: synchronous; its writes belong to the transaction of the caller. The first refusal
 * creates the table.
 */
export class RefusalTally {
  readonly #sql: SqlStorage;
  readonly #tables: RunTables;

  constructor(sql: SqlStorage, tables: RunTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  /** Tells whether an ended call is to be recorded in full. Counts it otherwise. */
  isRecordedInFull(entry: AuditEntry): boolean {
    const { gates } = entry;
    if (gates?.refusedBy === undefined || RAN.has(gates.refusedBy)) return true;
    const rows = this.#rows();
    const kind = kindOf(entry);
    const isKnown = rows.some((row) => row.kind === kind);
    const counted = isKnown || rows.length < MAX_KINDS ? kind : OTHERS;
    const seen = rows.find((row) => row.kind === counted)?.seen ?? 0;
    const fullChars = rows.reduce((sum, row) => sum + row.full_chars, 0);
    const chars = JSON.stringify(entry).length;
    const isFull = seen < FULL_PER_KIND && fullChars + chars <= FULL_CHARS;
    this.#sql.exec(
      `INSERT INTO refusals (kind, seen, full_chars, count, since, at)
       VALUES (?1, 1, ?2, ?3, ?4, ?4)
       ON CONFLICT (kind) DO UPDATE SET seen = seen + 1, full_chars = full_chars + ?2,
         since = CASE WHEN count = 0 THEN ?4 ELSE since END, count = count + ?3, at = ?4`,
      counted,
      isFull ? chars : 0,
      isFull ? 0 : 1,
      entry.at,
    );
    return isFull;
  }

  /** Takes the refusals that were counted since the last call. */
  take(): readonly CountedRefusals[] {
    if (!this.#tables.has("refusals")) return [];
    const taken = this.#rows().filter(({ count }) => count > 0);
    if (taken.length > 0) this.#sql.exec("UPDATE refusals SET count = 0");
    return taken.map(({ kind, count, since, at }) =>
      Object.assign(JSON.parse(kind) as object, { count, since, at }),
    );
  }

  #rows(): readonly TallyRow[] {
    this.#tables.create("refusals");
    return this.#sql.exec<TallyRow>("SELECT * FROM refusals").toArray();
  }
}

/** Kind of the refusals that have no kind of their own. */
const OTHERS = "{}";

/** A tool that was not found has a name that the model made up, so the kind leaves it out. */
function kindOf({ toolId, toolVersion, gates, outcome, reason }: AuditEntry): string {
  return JSON.stringify({
    ...(toolVersion !== undefined && { toolId, toolVersion }),
    ...(gates && { gates: { passed: [], refusedBy: gates.refusedBy } }),
    outcome,
    reason,
  });
}
