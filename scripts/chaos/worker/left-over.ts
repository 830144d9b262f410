import { replayLog } from "../../../durable-objects/run/logged-state.ts";
import { RunLog } from "../../../durable-objects/run/run-log.ts";

/** What the object of one run holds beside its evidence. */
export interface LeftByRun {
  /** Null: no alarm. Unit: Unix milliseconds. */
  readonly alarmAtMs: number | null;
  /** Its evidence is deleted. */
  readonly hasShrunk: boolean;
  /** Times by name; 0 for a deadline that stands still. */
  readonly deadlines: Readonly<Record<string, number>>;
  /** Entries of the outbox. */
  readonly undelivered: number;
  readonly openApprovals: number;
  /** Calls that have no outcome, and calls whose undo has none. */
  readonly openCalls: readonly string[];
}

/** What the object of a tenant holds. */
export interface LeftByTenant {
  readonly runs: readonly { readonly runId: string; readonly hasEnded: boolean }[];
  /** Open approvals, with their runs. */
  readonly approvals: readonly string[];
  /** Calls that an operator should look at, with their runs. */
  readonly outcomes: readonly string[];
  /** Open reservations that no alarm closes. */
  readonly reservations: readonly string[];
}

/** Reads the storage of a run. Contract: changes nothing. */
export async function readLeftByRun(storage: DurableObjectStorage): Promise<LeftByRun> {
  const { sql } = storage;
  const alarmAtMs = await storage.getAlarm();
  const run = sql
    .exec<{ deadlines: string; delivered_seq: number; tables: string; shrunk: number }>(
      "SELECT deadlines, delivered_seq, tables, claim IS NULL AS shrunk FROM log WHERE seq = 0",
    )
    .one();
  const { invocations, publications, notices } = replayLog(
    new RunLog(sql).entries(),
    run.delivered_seq,
  );
  const stored = JSON.parse(run.deadlines) as Readonly<Record<string, { atMs?: number }>>;
  const open = "SELECT count(*) AS count FROM approvals WHERE status = 'pending'";
  const hasApprovals = run.tables.split(" ").includes("approvals");
  return {
    alarmAtMs,
    hasShrunk: run.shrunk === 1,
    deadlines: Object.fromEntries(
      Object.entries(stored).map(([name, { atMs = 0 }]) => [name, atMs]),
    ),
    undelivered: publications.length + notices.length,
    openApprovals: hasApprovals ? sql.exec<{ count: number }>(open).one().count : 0,
    openCalls: [...invocations.values()]
      .filter(({ state, undo }) => state === "PENDING" || undo?.status === "running")
      .map(({ name, state }) => `${name} ${state}`),
  };
}

/** Reads the storage of a tenant. Contract: changes nothing. */
export function readLeftByTenant({ sql }: DurableObjectStorage): LeftByTenant {
  const has = (table: string): boolean =>
    sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", table).toArray().length > 0;
  const list = (table: string, query: string): string[] => {
    const rows = has(table) ? sql.exec<{ id: string }>(query).toArray() : [];
    return rows.map(({ id }) => id);
  };
  const alarmed = has("deadlines")
    ? "(SELECT at_ms FROM deadlines WHERE name = 'reservations')"
    : "0";
  const runs = has("runs")
    ? sql.exec<{ run_id: string; ended_ms: number | null }>("SELECT run_id, ended_ms FROM runs")
    : [];
  return {
    runs: [...runs].map(({ run_id: runId, ended_ms: at }) => ({ runId, hasEnded: at !== null })),
    approvals: list(
      "approvals",
      "SELECT json_extract(summary, '$.runId') AS id FROM approvals WHERE status = 'pending'",
    ),
    outcomes: list("outcomes", "SELECT id FROM outcomes"),
    reservations: list(
      "reserved",
      `SELECT id FROM reserved WHERE lapses_ms IS NOT NULL
         AND NOT coalesce(${alarmed} <= lapses_ms, 0)`,
    ),
  };
}
