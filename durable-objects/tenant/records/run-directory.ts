import type { RunQuery } from "../../../src/capabilities/tenant.ts";
import { personOf } from "../../../src/protocol/identity/principal.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import type { RunSummary } from "../../../src/protocol/run/summary.ts";
import type { TenantGauges } from "../../../src/protocol/metric/measures.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import { hasTable } from "../../has-table.ts";
import { LOOKED_AT, lookThrough } from "./look-through.ts";

/**
 * Whose run it is, the bytes that it stores, how many of its calls wait for an operator, and the
 * number of its last notice.
 */
export type RunReport = {
  readonly person: string;
  readonly storedBytes: number;
  readonly awaitsOutcomes: number;
  readonly lastSeq: number;
};

/** The last notice of a run, and when it came. Runs send notices in order. */
export interface LastNotice {
  readonly seq: number;
  readonly atMs: number;
}

/** Status of a run of which only the number of its last notice is left. */
const FORGOTTEN = "forgotten";

/**
 * Runs of which the earliest end is looked for, in the order of their starts. A later run that was
 * much shorter than all of these is forgotten a little late.
 */
const OLDEST = 1_000;

/**
 * The filters of a list, by the numbers of what `#lookAt` binds.
 * Threat: a model makes up a name with a quote in it that ends like the name of a tool.
 */
const FITS = `(?1 IS NULL OR person = ?1 OR actor = ?2) AND (?3 IS NULL OR status = ?3)
  AND (?4 IS NULL OR actor = ?4) AND status <> '${FORGOTTEN}'
  AND (?5 IS NULL OR ?5 = iif(json_extract(summary, '$.call') IS NULL, 'chat', 'call'))
  AND (?6 IS NULL OR ?6 = json_extract(summary, '$.assistantId'))
  AND (?7 IS NULL OR ?7 IN (SELECT value FROM json_each(summary, '$.toolIds')))`;

type RunRow = { run_id: string; created_ms: number; ended_ms: number | null; body: string };
type LookedAt = Omit<RunRow, "body"> & { body: string | null };

/**
 * The runs of a tenant in SQLite, as they last reported themselves, and the number of the last
 * notice of each.
 * Ownership: one per tenant object; the only writer of the `runs` table.
 * Contract: synchronous; the first run creates the table.
 */
export class RunDirectory {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS runs (
         run_id TEXT PRIMARY KEY, created_ms INTEGER NOT NULL, ended_ms INTEGER,
         actor TEXT NOT NULL, person TEXT NOT NULL, status TEXT NOT NULL, summary TEXT NOT NULL,
         last_seq INTEGER NOT NULL DEFAULT 0, heard_ms INTEGER NOT NULL DEFAULT 0
       ) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS runs_by_start ON runs (created_ms, run_id);`,
    );
  }

  /** Stores the newest report of a run. It leaves the indexes of unchanged columns alone. */
  put(run: RunSummary, last: LastNotice): void {
    const { runId, createdAt, endedAt, ...rest } = run;
    this.#sql.exec(
      `INSERT INTO runs (run_id, created_ms, ended_ms, actor, person, status, summary, last_seq,
         heard_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (run_id) DO UPDATE SET created_ms = excluded.created_ms,
         ended_ms = excluded.ended_ms, actor = excluded.actor, person = excluded.person,
         status = excluded.status, summary = excluded.summary, last_seq = excluded.last_seq,
         heard_ms = excluded.heard_ms`,
      runId,
      Date.parse(createdAt),
      endedAt === undefined ? null : Date.parse(endedAt),
      run.actorId,
      personOf(run),
      run.status,
      JSON.stringify(rest),
      last.seq,
      last.atMs,
    );
  }

  /** Stores the number of a notice that was no report. */
  note(runId: string, { seq, atMs }: LastNotice): void {
    this.#sql.exec(
      `INSERT INTO runs (run_id, created_ms, ended_ms, actor, person, status, summary, last_seq,
         heard_ms)
       VALUES (?1, ?3, ?3, '', '', '${FORGOTTEN}', '{}', ?2, ?3)
       ON CONFLICT (run_id) DO UPDATE SET last_seq = excluded.last_seq,
         heard_ms = excluded.heard_ms`,
      runId,
      seq,
      atMs,
    );
  }

  /** Deletes the report of a run; the number of its last notice stays. */
  erase(runId: string): void {
    this.#sql.exec(
      `UPDATE runs SET actor = '', person = '', status = '${FORGOTTEN}', summary = '{}'
       WHERE run_id = ?`,
      runId,
    );
  }

  /** Reads the last report of a run; undefined for an unknown run. */
  reportOf(runId: string): RunReport | undefined {
    return this.#sql
      .exec<RunReport>(
        `SELECT person, coalesce(json_extract(summary, '$.storedBytes'), 0) AS storedBytes,
           coalesce(json_extract(summary, '$.awaitsOutcomes'), 0) AS awaitsOutcomes,
           last_seq AS lastSeq
         FROM runs WHERE run_id = ?`,
        runId,
      )
      .toArray()[0];
  }

  /** What has not ended. The first call creates the index that it reads. */
  open(): Pick<TenantGauges, "openRuns" | "oldestRunningMs"> {
    if (!hasTable(this.#sql, "runs")) return { openRuns: {} };
    this.#sql.exec(
      `CREATE INDEX IF NOT EXISTS open_runs ON runs (status, created_ms)
       WHERE status IN ('running', 'waiting')`,
    );
    const rows = this.#sql
      .exec<{ status: string; runs: number; oldest: number }>(
        `SELECT status, count(*) AS runs, min(created_ms) AS oldest FROM runs
         WHERE status IN ('running', 'waiting') GROUP BY status`,
      )
      .toArray();
    const oldestRunningMs = rows.find(({ status }) => status === "running")?.oldest;
    return {
      openRuns: Object.fromEntries(rows.map(({ status, runs }) => [status, runs])),
      ...(oldestRunningMs !== undefined && { oldestRunningMs }),
    };
  }

  list(query: RunQuery): ListPage<RunSummary> {
    if (!hasTable(this.#sql, "runs")) return { items: [] };
    const pages = { limit: query.limit, most: LOOKED_AT, itemOf, positionOf };
    return lookThrough(this.#lookAt(query), pages);
  }

  /**
   * Reads some runs from a position on, those too that do not fit.
   * Threat: one request whose filters fit nothing reads all runs.
   */
  #lookAt(query: RunQuery): Iterable<LookedAt> {
    const { viewer, status, kind, actor, assistantId, toolId, fromMs, toMs, after } = query;
    const afterMs = after?.atMs ?? Number.MAX_SAFE_INTEGER;
    // The index finds the begin of a page by its time alone, so that time bounds the rows too.
    return this.#sql.exec<LookedAt>(
      `SELECT run_id, created_ms, ended_ms, iif(${FITS}, summary, NULL) AS body FROM runs
       WHERE created_ms >= ?8 AND created_ms < ?9 AND (created_ms, run_id) < (?10, ?11)
       ORDER BY created_ms DESC, run_id DESC LIMIT ${LOOKED_AT}`,
      viewer?.person ?? null,
      viewer?.actor ?? null,
      status ?? null,
      actor ?? null,
      kind ?? null,
      assistantId ?? null,
      toolId ?? null,
      fromMs ?? 0,
      Math.min(toMs ?? Number.MAX_SAFE_INTEGER, afterMs + 1),
      afterMs,
      after?.id ?? "",
    );
  }

  /**
   * Deletes some runs that ended before a time. Of a run that sent something since another time,
   * the number of its last notice is left until then: the run may repeat that notice. A run that
   * ended before a time began before it, so the index by start finds both.
   */
  forget(
    { endedBeforeMs, heardSinceMs }: Readonly<Record<"endedBeforeMs" | "heardSinceMs", number>>,
    limit: number,
  ): void {
    if (!hasTable(this.#sql, "runs")) return;
    this.#sql.exec(
      `UPDATE runs SET actor = '', person = '', status = '${FORGOTTEN}', summary = '{}',
         ended_ms = heard_ms + ?1 - ?2
       WHERE run_id IN (SELECT run_id FROM runs
         WHERE created_ms < ?1 AND ended_ms < ?1 AND heard_ms >= ?2
         ORDER BY created_ms, run_id LIMIT ?3)`,
      endedBeforeMs,
      heardSinceMs,
      limit,
    );
    this.#sql.exec(
      `DELETE FROM runs WHERE run_id IN (
         SELECT run_id FROM runs WHERE created_ms < ?1 AND ended_ms < ?1 AND heard_ms < ?2
         ORDER BY created_ms, run_id LIMIT ?3)`,
      endedBeforeMs,
      heardSinceMs,
      limit,
    );
  }

  /** Earliest end of the oldest runs that have ended; undefined when none has. */
  oldestEndMs(): number | undefined {
    if (!hasTable(this.#sql, "runs")) return undefined;
    const [row] = this.#sql
      .exec<{ at: number | null }>(
        `SELECT min(ended_ms) AS at FROM (
           SELECT ended_ms FROM runs WHERE ended_ms IS NOT NULL
           ORDER BY created_ms, run_id LIMIT ${OLDEST})`,
      )
      .toArray();
    return row?.at ?? undefined;
  }
}

function itemOf(row: RunRow): RunSummary {
  const { run_id: runId, created_ms: createdMs, ended_ms: endedMs, body } = row;
  const rest = JSON.parse(body) as Omit<RunSummary, "runId" | "createdAt" | "endedAt">;
  return {
    runId: runId as RunId,
    ...rest,
    createdAt: toIso(createdMs),
    ...(endedMs !== null && { endedAt: toIso(endedMs) }),
  };
}

function positionOf({ created_ms: atMs, run_id: id }: LookedAt): { atMs: number; id: string } {
  return { atMs, id };
}
