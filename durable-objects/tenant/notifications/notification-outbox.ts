import type { NotificationQuery } from "../../../src/capabilities/notification.ts";
import type { ApprovalSummary } from "../../../src/protocol/approval/view.ts";
import type { Escalation } from "../../../src/protocol/escalation/escalation.ts";
import type { RunId, TenantId } from "../../../src/protocol/identity/ids.ts";
import { toListPage, type ListPage } from "../../../src/protocol/list/page.ts";
import {
  notifyOfApproval,
  notifyOfEscalation,
  type Notification,
  type NotificationBody,
  type NotificationPlace,
  type UndeliveredNotification,
} from "../../../src/protocol/notification/notification.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import { hasTable } from "../../has-table.ts";

/** Most notifications that wait or are dead; the oldest gives way to a new one. */
const MAX_KEPT = 1_000;

/** Where a tenant is told. */
export interface NotificationTarget extends NotificationPlace {
  readonly tenantId: TenantId;
}

/** A notification that is due. */
export interface DueNotification extends Notification {
  /** Attempts that failed before. */
  readonly attempts: number;
}

type Row = {
  id: string;
  run_id: string;
  queued_ms: number;
  due_ms: number | null;
  attempts: number;
  failure: string | null;
  body: string;
};

/**
 * What people are told of and the receiver does not have yet, and where the receiver is.
 * Ownership: one per tenant object; the only writer of its two tables. The first policy that names
 * a place creates them.
 * Contract: synchronous. What happens without a place is told to nobody.
 */
export class NotificationOutbox {
  readonly #sql: SqlStorage;
  /** Undefined until it is looked up. */
  #hasTables: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Notes the place that the current policy names. */
  setPlace(tenantId: TenantId, place: NotificationPlace | undefined): void {
    if (!place && !this.#exists) return;
    this.#createTables();
    this.#sql.exec("DELETE FROM notification_place");
    if (!place) return;
    const { connection, page } = place;
    this.#sql.exec(
      "INSERT INTO notification_place VALUES (1, ?, ?, ?)",
      tenantId,
      connection,
      page,
    );
  }

  /** The place that the current policy names; undefined without one. */
  place(): NotificationTarget | undefined {
    if (!this.#exists) return undefined;
    const [row] = this.#sql
      .exec<{ tenant_id: TenantId; connection: string; page: string }>(
        "SELECT tenant_id, connection, page FROM notification_place",
      )
      .toArray();
    return row && { tenantId: row.tenant_id, connection: row.connection, page: row.page };
  }

  /** Queues a notification for each of them. Contract: part of the transaction that opened them. */
  tell(
    {
      opened,
      asked,
    }: { readonly opened: readonly Escalation[]; readonly asked: readonly ApprovalSummary[] },
    nowMs: number,
  ): void {
    const place = opened.length + asked.length > 0 ? this.place() : undefined;
    if (!place) return;
    for (const one of opened) this.#queue(notifyOfEscalation(one, place.page), nowMs);
    // Who reads of the escalation reads of its request.
    const told = new Set(opened.map(({ approvalId }) => approvalId));
    const others = asked.filter(({ approvalId }) => !told.has(approvalId));
    for (const one of others) this.#queue(notifyOfApproval(one, place.page), nowMs);
  }

  /** Notifications whose next attempt is due, the oldest first. */
  due(nowMs: number, limit: number): readonly DueNotification[] {
    if (!this.#exists) return [];
    const rows = this.#sql.exec<Row>(
      "SELECT * FROM notifications WHERE due_ms <= ? ORDER BY due_ms, id LIMIT ?",
      nowMs,
      limit,
    );
    return rows.toArray().map(({ id, run_id: runId, attempts, body }) => ({
      id,
      runId: runId as RunId,
      attempts,
      body: JSON.parse(body) as NotificationBody,
    }));
  }

  /** When the next attempt is due; undefined without any. */
  nextMs(): number | undefined {
    if (!this.#exists) return undefined;
    const next = "SELECT min(due_ms) AS at FROM notifications";
    return this.#sql.exec<{ at: number | null }>(next).one().at ?? undefined;
  }

  /** Notes an attempt that begins. Contract: `dueMs` null makes the notification dead. */
  noteAttempt(id: string, dueMs: number | null): void {
    const change = "attempts = attempts + 1, due_ms = ?2, failure = 'interrupted'";
    this.#sql.exec(`UPDATE notifications SET ${change} WHERE id = ?1`, id, dueMs);
  }

  noteFailure(id: string, failure: string): void {
    this.#sql.exec("UPDATE notifications SET failure = ?2 WHERE id = ?1", id, failure);
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM notifications WHERE id = ?", id);
  }

  /** Makes a notification due. False for an unknown id. */
  retry(id: string, nowMs: number): boolean {
    if (!this.#exists) return false;
    const change = "due_ms = ?2, attempts = iif(due_ms IS NULL, 0, attempts)";
    const changed = this.#sql.exec(
      `UPDATE notifications SET ${change} WHERE id = ?1 RETURNING id`,
      id,
      nowMs,
    );
    return changed.toArray().length > 0;
  }

  /** Lists what was not delivered, the oldest first. */
  list({ state, limit, after }: NotificationQuery): ListPage<UndeliveredNotification> {
    if (!this.#exists) return { items: [] };
    const rows = this.#sql
      .exec<Row>(
        `SELECT * FROM notifications
         WHERE (?1 IS NULL OR (due_ms IS NULL) = (?1 = 'dead')) AND (queued_ms, id) > (?2, ?3)
         ORDER BY queued_ms, id LIMIT ?4`,
        state ?? null,
        after?.atMs ?? 0,
        after?.id ?? "",
        limit + 1,
      )
      .toArray();
    return toListPage(rows, limit, {
      itemOf: toUndelivered,
      positionOf: ({ queued_ms: atMs, id }) => ({ atMs, id }),
    });
  }

  /** Deletes what tells of a run. */
  erase(runId: string): void {
    if (this.#exists) this.#sql.exec("DELETE FROM notifications WHERE run_id = ?", runId);
  }

  /** Deletes what was queued before a time. */
  forget(queuedBeforeMs: number): void {
    if (!this.#exists) return;
    this.#sql.exec("DELETE FROM notifications WHERE queued_ms < ?", queuedBeforeMs);
  }

  /** When the oldest one was queued; undefined without any. */
  oldestMs(): number | undefined {
    if (!this.#exists) return undefined;
    const oldest = "SELECT min(queued_ms) AS at FROM notifications";
    return this.#sql.exec<{ at: number | null }>(oldest).one().at ?? undefined;
  }

  #queue({ id, runId, body }: Notification, nowMs: number): void {
    this.#sql.exec(
      `INSERT OR IGNORE INTO notifications (id, run_id, queued_ms, due_ms, attempts, body)
       VALUES (?1, ?2, ?3, ?3, 0, ?4)`,
      id,
      runId,
      nowMs,
      JSON.stringify(body),
    );
    this.#sql.exec(
      `DELETE FROM notifications WHERE id IN (
         SELECT id FROM notifications ORDER BY queued_ms DESC, id DESC LIMIT -1 OFFSET ?)`,
      MAX_KEPT,
    );
  }

  get #exists(): boolean {
    return (this.#hasTables ??= hasTable(this.#sql, "notifications"));
  }

  #createTables(): void {
    if (this.#exists) return;
    this.#sql.exec(
      `CREATE TABLE notifications (
         id TEXT PRIMARY KEY, run_id TEXT NOT NULL, queued_ms INTEGER NOT NULL, due_ms INTEGER,
         attempts INTEGER NOT NULL, failure TEXT, body TEXT NOT NULL
       ) WITHOUT ROWID;
       CREATE INDEX notifications_by_age ON notifications (queued_ms, id);
       CREATE TABLE notification_place (
         id INTEGER PRIMARY KEY CHECK (id = 1), tenant_id TEXT NOT NULL,
         connection TEXT NOT NULL, page TEXT NOT NULL
       );`,
    );
    this.#hasTables = true;
  }
}

function toUndelivered(row: Row): UndeliveredNotification {
  const { id, run_id: runId, queued_ms: queuedMs, due_ms: dueMs, attempts, failure } = row;
  const { type } = JSON.parse(row.body) as NotificationBody;
  return {
    id,
    type,
    runId: runId as RunId,
    state: dueMs === null ? "dead" : "waiting",
    queuedAt: toIso(queuedMs),
    attempts,
    ...(failure !== null && { failure }),
    ...(dueMs !== null && { nextAttemptAt: toIso(dueMs) }),
  };
}
