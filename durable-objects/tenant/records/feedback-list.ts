import type { FeedbackQuery } from "../../../src/capabilities/tenant.ts";
import type { ListedFeedback } from "../../../src/protocol/conversation/feedback.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import { toListPage, type ListPage } from "../../../src/protocol/list/page.ts";
import type { FeedbackNotice } from "../../../src/protocol/run/tenant-notice.ts";
import { hasTable } from "../../has-table.ts";
import { cleanFeedback } from "./clean-records.ts";

type FeedbackRow = { run_id: string; at_ms: number; body: string };

/**
 * The newest feedback for each answer of a tenant.
 * Ownership: one per tenant object; the only writer of the `feedback` table.
 * Contract: synchronous; the first feedback creates the table.
 */
export class FeedbackList {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores what somebody gave, or took back, for an answer of a conversation. */
  note({ runId, feedback }: FeedbackNotice, conversationId: RunId): void {
    if (feedback) this.#put(cleanFeedback(feedback, conversationId));
    else this.#delete("run_id = ?", runId);
  }

  #put(feedback: ListedFeedback): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS feedback (
         run_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, rating TEXT NOT NULL,
         at_ms INTEGER NOT NULL, body TEXT NOT NULL
       ) WITHOUT ROWID`,
    );
    this.#sql.exec(
      `INSERT OR REPLACE INTO feedback (run_id, conversation_id, rating, at_ms, body)
       VALUES (?, ?, ?, ?, ?)`,
      feedback.runId,
      feedback.conversationId,
      feedback.rating,
      Date.parse(feedback.at),
      JSON.stringify(feedback),
    );
  }

  /** Deletes the feedback of a conversation. */
  erase(conversationId: RunId): void {
    this.#delete("conversation_id = ?", conversationId);
  }

  forget(beforeMs: number): void {
    this.#delete("at_ms < ?", beforeMs);
  }

  /** When the oldest was given; undefined without any. */
  oldestMs(): number | undefined {
    if (!hasTable(this.#sql, "feedback")) return undefined;
    const [row] = this.#sql
      .exec<{ at: number | null }>("SELECT min(at_ms) AS at FROM feedback")
      .toArray();
    return row?.at ?? undefined;
  }

  /** Lists feedback, the newest first. */
  list({ rating, limit, after }: FeedbackQuery): ListPage<ListedFeedback> {
    if (!hasTable(this.#sql, "feedback")) return { items: [] };
    const rows = this.#sql
      .exec<FeedbackRow>(
        `SELECT run_id, at_ms, body FROM feedback
         WHERE (?1 IS NULL OR rating = ?1) AND (at_ms, run_id) < (?2, ?3)
         ORDER BY at_ms DESC, run_id DESC LIMIT ?4`,
        rating ?? null,
        after?.atMs ?? Number.MAX_SAFE_INTEGER,
        after?.id ?? "",
        limit + 1,
      )
      .toArray();
    return toListPage(rows, limit, {
      itemOf: ({ body }) => JSON.parse(body) as ListedFeedback,
      positionOf: ({ at_ms: atMs, run_id: id }) => ({ atMs, id }),
    });
  }

  #delete(condition: string, value: string | number): void {
    if (!hasTable(this.#sql, "feedback")) return;
    this.#sql.exec(`DELETE FROM feedback WHERE ${condition}`, value);
  }
}
