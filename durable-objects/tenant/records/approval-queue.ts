import type {
  ApprovalPlace,
  ApprovalQuery,
  PlaceAnswer,
} from "../../../src/capabilities/approval.ts";
import type { ApprovalSummary } from "../../../src/protocol/approval/view.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import { hasTable } from "../../has-table.ts";
import { lookThrough, mostRows, ofAssistant } from "./look-through.ts";

type ApprovalRow = { approval_id: string; at_ms: number; body: string };
type LookedAt = Omit<ApprovalRow, "body"> & { body: string | null };

/** Time within which a run reports the approval for which it took a place. */
const PLACE_MS = 5 * 60_000;

/**
 * The approvals of a tenant in SQLite, as the runs last reported them, and the places of those that
 * no run has reported yet.
 * Ownership: one per tenant object; the only writer of the tables `approvals` and `places`.
 * Contract: synchronous; the first approval creates the table.
 */
export class ApprovalQueue {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS approvals (
         approval_id TEXT PRIMARY KEY, status TEXT NOT NULL,
         tool_id TEXT NOT NULL, requester TEXT NOT NULL,
         requested_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, summary TEXT NOT NULL
       ) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS approvals_by_expiry ON approvals (status, expires_ms);
       CREATE INDEX IF NOT EXISTS approvals_by_age ON approvals (expires_ms);
       CREATE TABLE IF NOT EXISTS places (
         approval_id TEXT PRIMARY KEY, requester TEXT NOT NULL, until_ms INTEGER NOT NULL
       ) WITHOUT ROWID;`,
    );
  }

  /** Takes a place, if the open approvals of other calls leave one. */
  take({ approvalId, requester, limits }: ApprovalPlace, nowMs: number): PlaceAnswer {
    const call = approvalId.slice(0, approvalId.lastIndexOf("_") + 1);
    this.#sql.exec("DELETE FROM places WHERE until_ms <= ?", nowMs);
    const { tenant, actor } = this.#sql
      .exec<{ tenant: number; actor: number }>(
        `SELECT count(*) AS tenant, count(*) FILTER (WHERE requester = ?1) AS actor FROM (
           SELECT approval_id, requester FROM approvals WHERE status = 'pending' AND expires_ms > ?2
           UNION SELECT approval_id, requester FROM places)
         WHERE substr(approval_id, 1, length(?3)) <> ?3`,
        requester,
        nowMs,
        call,
      )
      .one();
    if (actor >= limits.actor) return "actor_full";
    if (tenant >= limits.tenant) return "tenant_full";
    const untilMs = nowMs + PLACE_MS;
    this.#sql.exec(
      "INSERT OR REPLACE INTO places VALUES (?, ?, ?)",
      approvalId,
      requester,
      untilMs,
    );
    return "taken";
  }

  countOpen(nowMs: number): number {
    if (!hasTable(this.#sql, "approvals")) return 0;
    return this.#sql
      .exec<{ open: number }>(
        "SELECT count(*) AS open FROM approvals WHERE status = 'pending' AND expires_ms > ?",
        nowMs,
      )
      .one().open;
  }

  /** Stores the newest report about an approval; answers whether it is the first one. */
  put(approval: ApprovalSummary): boolean {
    const isFirst =
      this.#sql.exec("SELECT 1 FROM approvals WHERE approval_id = ?", approval.approvalId).toArray()
        .length === 0;
    this.#sql.exec("DELETE FROM places WHERE approval_id = ?", approval.approvalId);
    this.#sql.exec(
      `INSERT OR REPLACE INTO approvals (approval_id, status, tool_id, requester, requested_ms,
         expires_ms, summary) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      approval.approvalId,
      approval.status,
      approval.toolId,
      approval.requestedBy,
      Date.parse(approval.requestedAt),
      Date.parse(approval.expiresAt),
      JSON.stringify(approval),
    );
    return isFirst;
  }

  list(query: ApprovalQuery, nowMs: number): ListPage<ApprovalSummary> {
    if (!hasTable(this.#sql, "approvals")) return { items: [] };
    const { viewer, status, pattern, tool, person, assistant, limit, after } = query;
    const isNewest = query.sort === "newest";
    const [column, order] = isNewest ? ["requested_ms", "DESC"] : ["expires_ms", "ASC"];
    if (isNewest) this.#sql.exec(INDEX_BY_REQUEST);
    // What is pending expires later.
    const edge = isNewest ? Number.MAX_SAFE_INTEGER : status === "pending" ? nowMs : 0;
    const most = mostRows(query);
    const rows = this.#sql.exec<LookedAt>(
      `SELECT approval_id, ${column} AS at_ms, iif(${FITS}, summary, NULL) AS body FROM approvals
       WHERE (${column}, approval_id) ${isNewest ? "<" : ">"} (?10, ?11) AND (?16 > 0 OR ${FITS})
       ORDER BY ${column} ${order}, approval_id ${order} LIMIT ?16`,
      status,
      nowMs,
      pattern ?? null,
      tool ?? null,
      viewer.seesAll ? 1 : 0,
      viewer.person,
      JSON.stringify(viewer.roles),
      query.isMine ? 1 : 0,
      query.isDecidable ? 1 : 0,
      after?.atMs ?? edge,
      after?.id ?? "",
      viewer.decides ? 1 : 0,
      viewer.delegate ?? null,
      person ?? null,
      assistant ?? null,
      most,
    );
    return lookThrough(rows, { limit, most, itemOf: (row) => itemOf(row, nowMs), positionOf });
  }

  /** Deletes some approvals that expired before a time. */
  forget(expiredBeforeMs: number, limit: number): void {
    if (!hasTable(this.#sql, "approvals")) return;
    this.#sql.exec(
      `DELETE FROM approvals WHERE approval_id IN (
         SELECT approval_id FROM approvals WHERE expires_ms < ? ORDER BY expires_ms LIMIT ?)`,
      expiredBeforeMs,
      limit,
    );
  }

  /** Deletes the approvals of a run. */
  erase(runId: string): void {
    const prefix = `appr_${runId.replace(/^run_/, "")}`;
    this.#sql.exec(
      "DELETE FROM approvals WHERE approval_id > ?1 || '_' AND approval_id < ?1 || '`'",
      prefix,
    );
  }

  /** Earliest expiry of all stored approvals; undefined when there are none. */
  oldestExpiryMs(): number | undefined {
    if (!hasTable(this.#sql, "approvals")) return undefined;
    const [row] = this.#sql
      .exec<{ at: number | null }>("SELECT min(expires_ms) AS at FROM approvals")
      .toArray();
    return row?.at ?? undefined;
  }
}

/** A pending approval counts as expired at its expiry, even before its run reports the expiry. */
const WITH_STATUS = `CASE WHEN ?1 = 'pending' THEN status = 'pending' AND expires_ms > ?2
  WHEN ?1 = 'expired' THEN status = 'expired' OR (status = 'pending' AND expires_ms <= ?2)
  ELSE status = ?1 END`;

/** Everybody who counts as requester, as in `requestersOf`. */
const REQUESTERS = ["requester", ...["actorId", "minterId"].map(memberOf)]
  .map((id) => `lower(${id})`)
  .join(", ");

function memberOf(name: string): string {
  return `coalesce(json_extract(summary, '$.${name}'), '')`;
}

/** The viewer asked. An actor that acts for a person asked where it started the run. */
const OWN = `(requester = ?6 AND (?13 IS NULL OR ${memberOf("actorId")} = ?13))`;

const RULES = "json_each(summary, '$.requirements') AS rule";

const HAS_PATTERN = `EXISTS (SELECT 1 FROM ${RULES} WHERE rule.value ->> 'pattern' = ?3)`;

/**
 * The viewer is a person who decides, and fits one of the requirements by role, and as requester or
 * as somebody else. Only the run knows whether that requirement still needs people.
 */
const DECIDABLE = `(?12 AND EXISTS (SELECT 1 FROM ${RULES}
  WHERE ${holdsOne("roles")} AND ${holdsOne("withinLimit")}
    AND NOT (rule.value ->> 'excludesRequester' AND lower(?6) IN (${REQUESTERS}))
    AND (NOT (rule.value ->> 'onlyRequester') OR requester = ?6)))`;

/** The viewer has one of the listed roles. An absent list, or an empty `roles`, asks for none. */
function holdsOne(list: "roles" | "withinLimit"): string {
  const none = list === "roles" ? "'[]'" : "''";
  return `(coalesce(rule.value ->> '${list}', ${none}) = ${none} OR EXISTS (
    SELECT 1 FROM json_each(rule.value, '$.${list}') AS role
    WHERE role.value IN (SELECT held.value FROM json_each(?7) AS held)))`;
}

/** The filters of a list, by the numbers of what `list` binds. */
const FITS = `${WITH_STATUS} AND (?3 IS NULL OR ${HAS_PATTERN}) AND (?4 IS NULL OR tool_id = ?4)
  AND (?5 OR ${OWN} OR ${DECIDABLE}) AND (NOT ?8 OR ${OWN})
  AND (NOT ?9 OR (?1 = 'pending' AND ${DECIDABLE})) AND (?14 IS NULL OR requester = ?14)
  AND ${ofAssistant("approvals.summary ->> 'runId'", "?15")}`;

/** The first list by time of the request creates the index that it reads. */
const INDEX_BY_REQUEST =
  "CREATE INDEX IF NOT EXISTS approvals_by_request ON approvals (requested_ms)";

function itemOf({ body }: ApprovalRow, nowMs: number): ApprovalSummary {
  const approval = JSON.parse(body) as ApprovalSummary;
  const isOver = approval.status === "pending" && Date.parse(approval.expiresAt) <= nowMs;
  return isOver ? { ...approval, status: "expired" } : approval;
}

function positionOf({ at_ms: atMs, approval_id: id }: LookedAt): { atMs: number; id: string } {
  return { atMs, id };
}
