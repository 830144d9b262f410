import type { TenantId } from "../../../src/protocol/identity/ids.ts";
import type { PolicyPin } from "../../../src/protocol/policy/pin.ts";
import { hasTable } from "../../has-table.ts";

/** The current policy, and whether its pointer is published in KV. */
export interface Head {
  readonly tenantId: TenantId;
  readonly pin: PolicyPin;
  readonly isPublished: boolean;
}

/**
 * The revision of a tenant's policy in SQLite.
 * Contract: the first policy creates the table, so a read of an unknown tenant writes nothing.
 */
export class PolicyHead {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }

  read(): Head | undefined {
    const row = this.#row();
    return row && toHead(row);
  }

  /** Makes a document the next revision. Contract: atomic; the pointer is not published yet. */
  advance(tenantId: TenantId, hash: string): PolicyPin {
    return this.#storage.transactionSync(() => {
      this.#sql.exec(
        `CREATE TABLE IF NOT EXISTS policy (
           id INTEGER PRIMARY KEY CHECK (id = 1), tenant_id TEXT NOT NULL,
           revision INTEGER NOT NULL, hash TEXT NOT NULL,
           published_revision INTEGER NOT NULL, failed_attempts INTEGER NOT NULL
         )`,
      );
      const { revision } = this.#sql
        .exec<{ revision: number }>(
          `INSERT INTO policy (id, tenant_id, revision, hash, published_revision, failed_attempts)
           VALUES (1, ?, 1, ?, 0, 0)
           ON CONFLICT (id) DO UPDATE
             SET revision = revision + 1, hash = excluded.hash, failed_attempts = 0
           RETURNING revision`,
          tenantId,
          hash,
        )
        .one();
      return { revision, hash };
    });
  }

  markPublished({ revision }: PolicyPin): void {
    this.#sql.exec("UPDATE policy SET published_revision = ?, failed_attempts = 0", revision);
  }

  /** Counts a failed attempt to publish; answers the number of failures in a row. */
  countFailure(): number {
    return this.#sql
      .exec<{ failed: number }>(
        "UPDATE policy SET failed_attempts = failed_attempts + 1 RETURNING failed_attempts AS failed",
      )
      .one().failed;
  }

  #row(): PolicyRow | undefined {
    if (!hasTable(this.#sql, "policy")) return undefined;
    return this.#sql.exec<PolicyRow>("SELECT * FROM policy").toArray()[0];
  }
}

type PolicyRow = {
  tenant_id: string;
  revision: number;
  hash: string;
  published_revision: number;
};

function toHead({ tenant_id, revision, hash, published_revision }: PolicyRow): Head {
  return {
    tenantId: tenant_id as TenantId,
    pin: { revision, hash },
    isPublished: published_revision === revision,
  };
}
