import type { OutcomeQuery } from "../../../src/capabilities/tenant.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import type { AwaitedOutcome } from "../../../src/protocol/run/awaited-outcome.ts";
import type { TenantNotice } from "../../../src/protocol/run/tenant-notice.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import { hasTable } from "../../has-table.ts";
import { cleanOutcomes } from "./clean-records.ts";
import { lookThrough, mostRows, ofAssistant } from "./look-through.ts";

type LookedAt = { id: string; until_ms: number; body: string | null };

/** The filters of a list, by the numbers of what `list` binds. */
const FITS = `(?1 IS NULL OR tool_id = ?1) AND (?2 IS NULL OR outcomes.body ->> 'requestedBy' = ?2)
  AND ${ofAssistant("outcomes.run_id", "?3")}`;

/**
 * The calls of a tenant with an unknown outcome, as their runs last reported them.
 * Ownership: one per tenant object; the only writer of the `outcomes` table.
 * Contract: synchronous; the first such call creates the table.
 */
export class OutcomeList {
  readonly #sql: SqlStorage;
  /** Undefined until it is looked up. */
  #hasTable: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Replaces what is known about a run: its newest report names all its calls. */
  replace(runId: string, outcomes: readonly AwaitedOutcome[]): void {
    if (this.#exists) this.#sql.exec("DELETE FROM outcomes WHERE run_id = ?", runId);
    else if (outcomes.length > 0) this.#createTable();
    for (const outcome of outcomes) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO outcomes (id, run_id, tool_id, until_ms, body) VALUES (?, ?, ?, ?, ?)",
        `${runId}/${outcome.invocationId}`,
        runId,
        outcome.toolId,
        Date.parse(outcome.awaitsOutcomeUntil),
        JSON.stringify(outcome),
      );
    }
  }

  /** Lists the calls that may still be resolved, the most urgent first. */
  list(query: OutcomeQuery, nowMs: number): ListPage<AwaitedOutcome> {
    if (!this.#exists) return { items: [] };
    const { tool, person, assistant, limit, after } = query;
    const most = mostRows(query);
    const rows = this.#sql.exec<LookedAt>(
      `SELECT id, until_ms, iif(${FITS}, outcomes.body, NULL) AS body FROM outcomes
       WHERE until_ms > ?4 AND (until_ms, id) > (?5, ?6) AND (?7 > 0 OR ${FITS})
       ORDER BY until_ms, id LIMIT ?7`,
      tool ?? null,
      person ?? null,
      assistant ?? null,
      nowMs,
      after?.atMs ?? 0,
      after?.id ?? "",
      most,
    );
    return lookThrough(rows, {
      limit,
      most,
      itemOf: ({ body }) => JSON.parse(body) as AwaitedOutcome,
      positionOf: ({ until_ms: atMs, id }) => ({ atMs, id }),
    });
  }

  /** Counts the calls that may still be resolved. */
  count(nowMs: number): number {
    if (!this.#exists) return 0;
    const awaited = "SELECT count(*) AS calls FROM outcomes WHERE until_ms > ?";
    return this.#sql.exec<{ calls: number }>(awaited, nowMs).one().calls;
  }

  /** Deletes calls that expired before a time, and whose runs never reported it. */
  forget(expiredBeforeMs: number): void {
    if (this.#exists) this.#sql.exec("DELETE FROM outcomes WHERE until_ms < ?", expiredBeforeMs);
  }

  get #exists(): boolean {
    return (this.#hasTable ??= hasTable(this.#sql, "outcomes"));
  }

  #createTable(): void {
    this.#sql.exec(
      `CREATE TABLE outcomes (
         id TEXT PRIMARY KEY, run_id TEXT NOT NULL, tool_id TEXT NOT NULL,
         until_ms INTEGER NOT NULL, body TEXT NOT NULL
       ) WITHOUT ROWID;
       CREATE INDEX outcomes_by_run ON outcomes (run_id);
       CREATE INDEX outcomes_by_expiry ON outcomes (until_ms);`,
    );
    this.#hasTable = true;
  }
}

/**
 * Reads the calls whose outcome a run awaits. Undefined when the notices do not tell, or when there
 * are none and were none: most runs have no such call, and cost no statement more.
 */
export function outcomesTold(
  notices: readonly TenantNotice[],
  { runId, had }: { readonly runId: RunId; readonly had: number },
): readonly AwaitedOutcome[] | undefined {
  const told = notices.findLast((notice) => notice.type === "run");
  const { outcomes = [] } = told ?? {};
  return told && outcomes.length + had > 0 ? cleanOutcomes(outcomes, runId) : undefined;
}
