import type { PolicyPublisher } from "../../../src/capabilities/policy.ts";
import type { TenantId } from "../../../src/protocol/identity/ids.ts";
import { hasTable } from "../../has-table.ts";

/**
 * The origins that a tenant admits, and which of them are published in KV.
 * Contract: the first origin creates the table. A publication that failed is retried.
 */
export class OriginList {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }

  /** Replaces the origins by those of the new current policy. */
  replace(origins: readonly string[]): void {
    if (origins.length === 0 && !this.#exists()) return;
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS origins (
         origin TEXT PRIMARY KEY, is_admitted INTEGER NOT NULL, is_published INTEGER NOT NULL
       ) WITHOUT ROWID`,
    );
    this.#sql.exec("UPDATE origins SET is_admitted = 0, is_published = 0 WHERE is_admitted = 1");
    for (const origin of origins) {
      this.#sql.exec("INSERT OR REPLACE INTO origins VALUES (?, 1, 0)", origin);
    }
  }

  /** Publishes all changes; answers whether none is left. */
  async publish(tenantId: TenantId, publisher: PolicyPublisher): Promise<boolean> {
    const open = this.#unpublished();
    const done = await Promise.all(
      open.map(({ origin, is_admitted }) =>
        publisher.listOrigin(tenantId, origin, is_admitted === 1),
      ),
    );
    for (const [index, row] of open.entries()) if (done[index]) this.#markPublished(row);
    return this.#unpublished().length === 0;
  }

  #unpublished(): readonly OriginRow[] {
    if (!this.#exists()) return [];
    return this.#sql
      .exec<OriginRow>("SELECT origin, is_admitted FROM origins WHERE is_published = 0")
      .toArray();
  }

  /** The condition on is_admitted protects a newer change of the same origin. */
  #markPublished({ origin, is_admitted }: OriginRow): void {
    const which = "WHERE origin = ? AND is_admitted = ?";
    this.#sql.exec(`UPDATE origins SET is_published = 1 ${which}`, origin, is_admitted);
    this.#sql.exec("DELETE FROM origins WHERE is_published = 1 AND is_admitted = 0");
  }

  #exists(): boolean {
    return hasTable(this.#sql, "origins");
  }
}

type OriginRow = { origin: string; is_admitted: number };
