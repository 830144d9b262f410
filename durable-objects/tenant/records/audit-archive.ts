import type {
  ArchiveMethods,
  AuditRow,
  AuditStretch,
  RemovalPlan,
  RemovalQuery,
} from "../../../src/capabilities/audit.ts";
import type { AuditRecord } from "../../../src/protocol/audit/chain.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import { hasTable } from "../../has-table.ts";
import { AuditLog } from "./audit-log.ts";

/** What an archive needs. */
interface ArchiveParts {
  readonly storage: DurableObjectStorage;
  /** Gives the storage its version, before the first write. */
  readonly claim: () => void;
  /** The storage has a version. */
  readonly isClaimed: () => boolean;
}

/**
 * Keeps a closed segment of the audit log of a tenant.
 * Ownership: one per object; the only writer of the `archive` table, which names the owner. An
 * object of a tenant has no such table, and is no archive.
 */
export class AuditArchiveTables implements ArchiveMethods {
  readonly #parts: ArchiveParts;

  constructor(parts: ArchiveParts) {
    this.#parts = parts;
  }

  async keepArchived(owner: string, rows: readonly AuditRow[]): Promise<boolean> {
    const { storage } = this.#parts;
    const log = this.#logOf(owner) ?? this.#begin(owner);
    if (!log) return false;
    storage.transactionSync(() => {
      const { seq: lastSeq } = log.head();
      for (const row of rows) if (row.seq > lastSeq) log.put(row);
    });
    await storage.sync();
    return true;
  }

  async readArchived(owner: string, stretch: AuditStretch): Promise<ListPage<AuditRecord, number>> {
    return this.#logOf(owner)?.read(stretch) ?? { items: [] };
  }

  async planArchived(owner: string, query: RemovalQuery): Promise<RemovalPlan> {
    const log = this.#logOf(owner);
    if (!log) return "broken";
    log.deleteUpTo(query.start.seq);
    return log.planRemoval(query);
  }

  async dropArchived(owner: string): Promise<boolean> {
    if (this.#logOf(owner)) await this.#parts.storage.deleteAll();
    return true;
  }

  #logOf(owner: string): AuditLog | undefined {
    const { storage } = this.#parts;
    if (!hasTable(storage.sql, "archive")) return undefined;
    const [archive] = storage.sql.exec("SELECT owner FROM archive").toArray();
    return archive?.["owner"] === owner ? new AuditLog(storage) : undefined;
  }

  /** Makes an unused object an archive. */
  #begin(owner: string): AuditLog | undefined {
    const { storage, claim, isClaimed } = this.#parts;
    if (isClaimed()) return undefined;
    return storage.transactionSync(() => {
      claim();
      storage.sql.exec("CREATE TABLE archive (owner TEXT NOT NULL)");
      storage.sql.exec("INSERT INTO archive (owner) VALUES (?)", owner);
      const log = new AuditLog(storage);
      log.createTable();
      return log;
    });
  }
}
