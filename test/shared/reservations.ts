import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { ConsentList } from "../../durable-objects/tenant/head/consent-list.ts";
import { BudgetBook } from "../../durable-objects/tenant/head/budget-book.ts";
import type { BudgetLedger, Reservation } from "../../src/capabilities/budget.ts";
import { composeTenants } from "../../src/compose/tenant.ts";
import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import type { BudgetAmounts } from "../../src/protocol/budget/amounts.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { bindings } from "./worker.ts";

export const BY = { actorId: "user:olga" as ActorId };
export const tenants = composeTenants((env as unknown as typeof bindings).TENANTS);
export const objectOf = (tenant: string): DurableObjectStub =>
  bindings.TENANTS.get(bindings.TENANTS.idFromName(tenant));
export const POLICY = policyOf({ allowedTools: [] });
export const pin = { revision: 1, hash: await hashOf(POLICY as unknown as JsonObject) };
export const HOUR = 3_600_000;
export const MONTH_SECONDS = 31 * 86_400;
export const T = 1_000 * 24 * HOUR;

export async function ledgerOf(tenant: string): Promise<BudgetLedger> {
  await tenants.registry.change(tenant as TenantId, POLICY, {
    expectedRevision: undefined,
    by: BY,
  });
  return tenants.ledgerOf(tenant as TenantId);
}

let next = 0;
export const asks = (part: Partial<Reservation> = {}): Reservation => ({
  id: `reservation-${next++}`,
  toolId: "",
  amounts: { tokens: 10 },
  limits: { tokens: 100 },
  windowSeconds: MONTH_SECONDS,
  pin,
  ...part,
});
export const reserved = { kind: "reserved" };
export const exhausted = { kind: "exhausted", budget: "tokens" };

/** Works on a book over the storage of an object of its own. */
export const inBook = <R>(
  name: string,
  use: (book: BudgetBook, sql: SqlStorage) => R,
): Promise<R> =>
  runInDurableObject<DurableObject, R>(objectOf(`book-${name}`), (_object, { storage }) =>
    use(new BudgetBook(storage, new ConsentList(storage.sql)), storage.sql),
  );

/**
 * What is counted in all windows of a tenant, by what its windows and what its reservations say.
 */
export const countedOf = (sql: SqlStorage): readonly [number, number] => {
  const sum = (query: string): number =>
    sql
      .exec<{ amounts: string }>(query)
      .toArray()
      .reduce(
        (total, { amounts }) => total + ((JSON.parse(amounts) as BudgetAmounts).tokens ?? 0),
        0,
      );
  return [sum("SELECT amounts FROM spent"), sum("SELECT counted AS amounts FROM reserved")];
};

/** What is left under a limit of 100 tokens. */
export const leftOf = async (ledger: BudgetLedger): Promise<number> => {
  const id = `look-${next++}`;
  const answer = await ledger.reserve(asks({ id, amounts: { tokens: 100 }, least: { tokens: 0 } }));
  await ledger.release(id);
  return answer.kind === "reserved" ? (answer.granted?.tokens ?? Number.NaN) : Number.NaN;
};
