import type { ConversationQuery } from "../../../src/capabilities/tenant.ts";
import type { ConversationSummary } from "../../../src/protocol/conversation/summary.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import { personOf } from "../../../src/protocol/identity/principal.ts";
import { toListPage, type ListPage } from "../../../src/protocol/list/page.ts";
import type { RunStatus } from "../../../src/protocol/run/state.ts";
import type { RunSummary } from "../../../src/protocol/run/summary.ts";
import type { ConversationPlace } from "../../../src/protocol/run/tenant-notice.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import { hasTable } from "../../has-table.ts";

type ConversationRow = {
  id: string;
  title: string | null;
  status: RunStatus;
  turns: number;
  created_ms: number;
  newest_ms: number;
};

/** Status of a conversation of which only the id is left. */
const ERASED = "erased";

/**
 * The conversations of a tenant, as their runs last reported them. Nothing that was said is here.
 * Ownership: one per tenant object; the only writer of the `conversations` table.
 * Contract: synchronous; the first run creates the table. Runs report in any order.
 */
export class ConversationList {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS conversations (
         id TEXT PRIMARY KEY, person TEXT NOT NULL, actor TEXT NOT NULL, origin TEXT,
         assistant TEXT, title TEXT, is_named INTEGER NOT NULL DEFAULT 0, status TEXT NOT NULL,
         turns INTEGER NOT NULL, created_ms INTEGER NOT NULL, newest_ms INTEGER NOT NULL
       ) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS conversations_by_turn ON conversations (newest_ms, id);`,
    );
  }

  /** Stores what a run reported as a turn. The first run says whose conversation it is. */
  note(
    { conversationId, origin, assistantId }: ConversationPlace,
    run: RunSummary,
    isNew: boolean,
  ): void {
    const atMs = Date.parse(run.createdAt);
    const isFirst = run.runId === conversationId;
    this.#sql.exec(
      `INSERT INTO conversations (id, person, actor, origin, assistant, title, status, turns,
         created_ms, newest_ms)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?8)
       ON CONFLICT (id) DO UPDATE SET
         person = iif(?9, ?2, person), actor = iif(?9, ?3, actor), origin = iif(?9, ?4, origin),
         assistant = iif(?9, ?5, assistant), created_ms = min(created_ms, ?8),
         title = iif(is_named, title, coalesce(?6, title)), turns = turns + ?10,
         status = iif(?8 >= newest_ms, ?7, status), newest_ms = max(newest_ms, ?8)
       WHERE status <> '${ERASED}'`,
      conversationId,
      personOf(run),
      run.actorId,
      origin ?? null,
      assistantId ?? null,
      run.title ?? null,
      run.status,
      atMs,
      isFirst ? 1 : 0,
      isNew ? 1 : 0,
    );
  }

  /** Stores the title that the owner gave. No tool replaces it. */
  rename(id: RunId, title: string): void {
    this.#sql.exec("UPDATE conversations SET title = ?, is_named = 1 WHERE id = ?", title, id);
  }

  /** Keeps the id alone, so that no late report brings the conversation back. */
  erase(id: RunId): void {
    this.#sql.exec(
      `UPDATE conversations SET person = '', actor = '', origin = NULL, assistant = NULL,
         title = NULL, status = '${ERASED}' WHERE id = ?`,
      id,
    );
  }

  list(query: ConversationQuery): ListPage<ConversationSummary> {
    if (!hasTable(this.#sql, "conversations")) return { items: [] };
    const { person, actor, isDelegate, isPersonOnly, page, title, limit, after } = query;
    const { assistantId = null } = query;
    const rows = this.#sql
      .exec<ConversationRow>(
        `SELECT id, title, status, turns, created_ms, newest_ms FROM conversations
         WHERE status <> '${ERASED}'
           AND iif(?3, person = ?1 AND actor = ?2, person = ?1 OR actor = ?2)
           AND (?4 IS NULL OR origin = ?4 AND assistant = ?5)
           AND (?6 IS NULL OR instr(lower(title), lower(?6)) > 0)
           AND (?10 IS NULL OR assistant = ?10)
           AND (newest_ms, id) < (?7, ?8)
         ORDER BY newest_ms DESC, id DESC LIMIT ?9`,
        person,
        isPersonOnly ? null : actor,
        isDelegate ? 1 : 0,
        page?.origin ?? null,
        page?.assistantId ?? null,
        title ?? null,
        after?.atMs ?? Number.MAX_SAFE_INTEGER,
        after?.id ?? "",
        limit + 1,
        assistantId,
      )
      .toArray();
    return toListPage(rows, limit, {
      itemOf: toSummary,
      positionOf: ({ newest_ms: atMs, id }) => ({ atMs, id }),
    });
  }

  /** Deletes some conversations whose newest turn began before a time. */
  forget(beforeMs: number, limit: number): void {
    if (!hasTable(this.#sql, "conversations")) return;
    this.#sql.exec(
      `DELETE FROM conversations WHERE id IN (SELECT id FROM conversations WHERE newest_ms < ?
         ORDER BY newest_ms, id LIMIT ?)`,
      beforeMs,
      limit,
    );
  }

  /** When the newest turn of the oldest one began; undefined without any. */
  oldestMs(): number | undefined {
    if (!hasTable(this.#sql, "conversations")) return undefined;
    const [row] = this.#sql
      .exec<{ at: number | null }>("SELECT min(newest_ms) AS at FROM conversations")
      .toArray();
    return row?.at ?? undefined;
  }
}

function toSummary(row: ConversationRow): ConversationSummary {
  return {
    conversationId: row.id as RunId,
    ...(row.title !== null && { title: row.title }),
    status: row.status,
    turns: row.turns,
    createdAt: toIso(row.created_ms),
    updatedAt: toIso(row.newest_ms),
  };
}
