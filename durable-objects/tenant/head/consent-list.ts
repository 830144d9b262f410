import type { ConsentQuery } from "../../../src/capabilities/consent.ts";
import type {
  ConsentClaim,
  ConsentGrant,
  ConsentState,
  ConsentView,
} from "../../../src/protocol/consent/consent.ts";
import type { ActorId } from "../../../src/protocol/identity/ids.ts";
import { toListPage, type ListPage } from "../../../src/protocol/list/page.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import { hasTable } from "../../has-table.ts";

/** Consents whose time is over that one new consent deletes. */
const MAX_FORGOTTEN = 100;

type Row = {
  number: number;
  id: string;
  person: string;
  conversation_id: string;
  calls: number;
  used: number;
  granted_ms: number;
  until_ms: number;
  revoked_ms: number | null;
  body: string;
};

/** What the columns do not say. */
type Body = Pick<
  ConsentGrant,
  "approvalId" | "toolId" | "toolVersion" | "assistantId" | "sameFields" | "within"
>;

/**
 * The consents of a tenant that last.
 * Ownership: one per tenant object; the only writer of the `consents` table.
 * Contract: synchronous; a reservation uses a consent in its own transaction. A row stays until the
 * time of its consent is over, so that nothing stores a revoked or used one again.
 */
export class ConsentList {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores a consent; tells whether it is new. */
  grant(grant: ConsentGrant, nowMs: number): boolean {
    const { id, person, print, conversationId, calls, untilMs, ...body } = grant;
    this.#createTable();
    this.#sql.exec(
      "DELETE FROM consents WHERE number IN (SELECT number FROM consents WHERE until_ms <= ? LIMIT ?)",
      nowMs,
      MAX_FORGOTTEN,
    );
    const stored = this.#sql.exec(
      `INSERT INTO consents
         (id, person, print, conversation_id, calls, used, granted_ms, until_ms, body)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING number`,
      id,
      person,
      print,
      conversationId,
      calls,
      nowMs,
      untilMs,
      JSON.stringify(body satisfies Body),
    );
    return stored.toArray().length > 0;
  }

  /**
   * Finds a consent that covers a call: the named one, or the one that ends first.
   * Threat: a consent of other arguments, another conversation or an earlier, wider policy answers.
   */
  find(claim: ConsentClaim, nowMs: number): string | undefined {
    const { id, prints, conversationId, within, maxCalls, maxSeconds } = claim;
    if (prints.length === 0 || !this.#exists) return undefined;
    const [row] = this.#sql
      .exec<{ id: string }>(
        `SELECT id FROM consents
         WHERE print IN (${prints.map(() => "?").join(", ")}) AND revoked_ms IS NULL
           AND used < min(calls, ?) AND until_ms > ? AND granted_ms + ? > ?
           AND (conversation_id = ? OR (body ->> 'within' = 'assistant' AND ? = 'assistant'))
           AND (? IS NULL OR id = ?)
         ORDER BY until_ms, number LIMIT 1`,
        ...prints,
        maxCalls,
        nowMs,
        maxSeconds * 1_000,
        nowMs,
        conversationId,
        within,
        id ?? null,
        id ?? null,
      )
      .toArray();
    return row?.id;
  }

  /** Counts one call that a consent answers. */
  use(id: string): void {
    this.#sql.exec("UPDATE consents SET used = used + 1 WHERE id = ?", id);
  }

  /** Counts one call less, because it did not begin. */
  giveBack(id: string): void {
    if (this.#exists) this.#sql.exec("UPDATE consents SET used = used - 1 WHERE id = ?", id);
  }

  /** Lists consents, the newest first. */
  list({ person, assistantId, limit, after }: ConsentQuery, nowMs: number): ListPage<ConsentView> {
    if (!this.#exists) return { items: [] };
    const rows = this.#sql
      .exec<Row>(
        `SELECT * FROM consents
         WHERE person = ?1 AND until_ms > ?2 AND (?3 IS NULL OR body ->> 'assistantId' = ?3)
           AND (granted_ms, number) < (?4, ?5)
         ORDER BY granted_ms DESC, number DESC LIMIT ?6`,
        person,
        nowMs,
        assistantId ?? null,
        after?.atMs ?? Number.MAX_SAFE_INTEGER,
        Number(after?.id ?? 0),
        limit + 1,
      )
      .toArray();
    return toListPage(rows, limit, {
      itemOf: toView,
      positionOf: ({ granted_ms: atMs, number }) => ({ atMs, id: String(number) }),
    });
  }

  /** Finds a consent whose time is not over. */
  read(id: string, nowMs: number): ConsentView | undefined {
    if (!this.#exists) return undefined;
    const [row] = this.#sql
      .exec<Row>("SELECT * FROM consents WHERE id = ? AND until_ms > ?", id, nowMs)
      .toArray();
    return row && toView(row);
  }

  /** Ends a consent: no reservation that follows uses it. */
  revoke(id: string, nowMs: number): void {
    this.#sql.exec("UPDATE consents SET revoked_ms = ? WHERE id = ?", nowMs, id);
  }

  /** Deletes the consents of a person. */
  forgetPerson(person: ActorId): void {
    if (this.#exists) this.#sql.exec("DELETE FROM consents WHERE person = ?", person);
  }

  get #exists(): boolean {
    return hasTable(this.#sql, "consents");
  }

  #createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS consents (
         number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, person TEXT NOT NULL,
         print TEXT NOT NULL, conversation_id TEXT NOT NULL, calls INTEGER NOT NULL,
         used INTEGER NOT NULL, granted_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,
         revoked_ms INTEGER, body TEXT NOT NULL
       );
       CREATE INDEX IF NOT EXISTS consents_by_print ON consents (print);
       CREATE INDEX IF NOT EXISTS consents_by_person ON consents (person, granted_ms);`,
    );
  }
}

function toView(row: Row): ConsentView {
  const { within, ...body } = JSON.parse(row.body) as Body;
  return {
    id: row.id,
    state: stateOf(row),
    person: row.person as ActorId,
    ...body,
    ...(within === "conversation" && {
      conversationId: row.conversation_id as ConsentGrant["conversationId"],
    }),
    calls: row.calls,
    used: row.used,
    grantedAt: toIso(row.granted_ms),
    until: toIso(row.until_ms),
    ...(row.revoked_ms !== null && { revokedAt: toIso(row.revoked_ms) }),
  };
}

function stateOf({ revoked_ms: revokedMs, used, calls }: Row): ConsentState {
  if (revokedMs !== null) return "revoked";
  return used < calls ? "active" : "used_up";
}
