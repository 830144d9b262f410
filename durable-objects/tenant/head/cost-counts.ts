import type { CappedCost } from "../../../src/capabilities/budget.ts";
import { selects, type SelectedTool } from "../../../src/protocol/policy/selector.ts";
import { windowAt, type CountedCost, type Window } from "./stored-reservations.ts";

/**
 * What the calls of each tool cost, per fixed window. Caps add up the tools that they select, so a
 * changed cap begins with what was counted before.
 * Contract: synchronous. The caller makes the check and the count one transaction.
 */
export class CostCounts {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  #createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS tool_costs (
         length_ms INTEGER NOT NULL, start_ms INTEGER NOT NULL, tool_id TEXT NOT NULL,
         class TEXT NOT NULL, effect TEXT NOT NULL, cost INTEGER NOT NULL,
         PRIMARY KEY (length_ms, start_ms, tool_id, class, effect)
       ) WITHOUT ROWID;`,
    );
  }

  /**
   * Tells whether a cost would exceed one of its caps. A tenant without caps gets no table, because
   * each table is a page.
   */
  exceeds({ caps }: CappedCost, cost: number, nowMs: number): boolean {
    this.#createTable();
    return caps.some((cap) => {
      const spent = this.#rowsOf(windowAt(nowMs, cap.windowSeconds))
        .filter((row) => selects(cap, row))
        .reduce((sum, row) => sum + row.cost, 0);
      return cost > 0 && spent + cost > cap.max;
    });
  }

  /** Counts a new cost, in each window once. */
  count({ tool, caps }: CappedCost, cost: number, nowMs: number): CountedCost {
    const lengths = new Set(caps.map(({ windowSeconds }) => windowSeconds));
    const windows = [...lengths].map((seconds) => windowAt(nowMs, seconds));
    for (const { lengthMs, startMs } of windows) {
      this.#sql.exec("DELETE FROM tool_costs WHERE start_ms + 2 * length_ms <= ?", nowMs);
      this.#sql.exec(
        `INSERT INTO tool_costs (length_ms, start_ms, tool_id, class, effect, cost)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET cost = cost + excluded.cost`,
        lengthMs,
        startMs,
        tool.id,
        tool.sideEffectClass,
        tool.effect,
        cost,
      );
    }
    return { tool, windows };
  }

  /** Changes what a reservation counts. A window that was deleted stays deleted. */
  recount({ tool, windows }: CountedCost, change: number): void {
    for (const { lengthMs, startMs } of windows) {
      this.#sql.exec(
        `UPDATE tool_costs SET cost = max(0, cost + ?) WHERE length_ms = ? AND start_ms = ?
           AND tool_id = ? AND class = ? AND effect = ?`,
        change,
        lengthMs,
        startMs,
        tool.id,
        tool.sideEffectClass,
        tool.effect,
      );
    }
  }

  #rowsOf({ lengthMs, startMs }: Window): readonly (SelectedTool & { readonly cost: number })[] {
    return this.#sql
      .exec<CostRow>(
        "SELECT tool_id, class, effect, cost FROM tool_costs WHERE length_ms = ? AND start_ms = ?",
        lengthMs,
        startMs,
      )
      .toArray()
      .map(({ tool_id: id, class: sideEffectClass, effect, cost }) => {
        return { id, sideEffectClass, effect, cost };
      });
  }
}

type CostRow = {
  tool_id: string;
  class: SelectedTool["sideEffectClass"];
  effect: SelectedTool["effect"];
  cost: number;
};
