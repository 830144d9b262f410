import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BudgetBook } from "../../durable-objects/tenant/budget-book.ts";
import type { BudgetLedger, Reservation } from "../../src/capabilities/budget.ts";
import { composeTenants } from "../../src/compose/tenant.ts";
import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import type { BudgetAmounts } from "../../src/protocol/budget/amounts.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { PlainLedger } from "../fakes/plain-ledger.ts";
import { policyOf } from "../fakes/fakes.ts";
import { bindings } from "../shared/worker.ts";

const BY = { actorId: "user:olga" as ActorId };
const tenants = composeTenants((env as unknown as typeof bindings).TENANTS);
const objectOf = (tenant: string): DurableObjectStub =>
  bindings.TENANTS.get(bindings.TENANTS.idFromName(tenant));
const POLICY = policyOf({ allowedTools: [] });
const pin = { revision: 1, hash: await hashOf(POLICY as unknown as JsonObject) };
const HOUR = 3_600_000;
const MONTH_SECONDS = 31 * 86_400;
const T = 1_000 * 24 * HOUR;

async function ledgerOf(tenant: string): Promise<BudgetLedger> {
  await tenants.registry.change(tenant as TenantId, POLICY, {
    expectedRevision: undefined,
    by: BY,
  });
  return tenants.ledgerOf(tenant as TenantId);
}

let next = 0;
const asks = (part: Partial<Reservation> = {}): Reservation => ({
  id: `reservation-${next++}`,
  toolId: "",
  amounts: { tokens: 10 },
  limits: { tokens: 100 },
  windowSeconds: MONTH_SECONDS,
  pin,
  ...part,
});
const reserved = { kind: "reserved" };
const exhausted = { kind: "exhausted", budget: "tokens" };

/** Works on a book over the storage of an object of its own. */
const inBook = <R>(name: string, use: (book: BudgetBook, sql: SqlStorage) => R): Promise<R> =>
  runInDurableObject<DurableObject, R>(objectOf(`book-${name}`), (_object, { storage }) =>
    use(new BudgetBook(storage), storage.sql),
  );

/**
 * What is counted in all windows of a tenant, by what its windows and what its reservations say.
 */
const countedOf = (sql: SqlStorage): readonly [number, number] => {
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
const leftOf = async (ledger: BudgetLedger): Promise<number> => {
  const id = `look-${next++}`;
  const answer = await ledger.reserve(asks({ id, amounts: { tokens: 100 }, least: { tokens: 0 } }));
  await ledger.release(id);
  return answer.kind === "reserved" ? (answer.granted?.tokens ?? Number.NaN) : Number.NaN;
};

describe("a reservation that is open", () => {
  test("counts against the limit", async () => {
    const ledger = await ledgerOf("open");
    for (let call = 0; call < 10; call++) expect(await ledger.reserve(asks())).toEqual(reserved);
    expect(await ledger.reserve(asks())).toEqual(exhausted);
  });

  test("outlives its object", async () => {
    const ledger = await ledgerOf("evicted");
    const first = asks({ unsettled: { forMs: HOUR, keeps: {} } });
    await ledger.reserve(first);
    await evictDurableObject(objectOf("evicted"));
    expect(await leftOf(ledger)).toBe(90);
    await ledger.settle(first.id, { tokens: 3 });
    await evictDurableObject(objectOf("evicted"));
    expect(await leftOf(ledger)).toBe(97);
  });

  test("is granted as much as is left, where that is of use, and the same when it is asked again", async () => {
    const ledger = await ledgerOf("shrunk");
    await ledger.reserve(asks({ amounts: { tokens: 60 } }));
    const more = asks({ amounts: { tokens: 70 }, least: { tokens: 30 } });
    const answer = { kind: "reserved", granted: { tokens: 40 } };
    expect(await ledger.reserve(more)).toEqual(answer);
    expect(await ledger.reserve(more)).toEqual(answer);
    await ledger.settle(more.id, { tokens: 20 });
    expect(await ledger.reserve(more)).toEqual(answer);
    expect(await ledger.reserve(asks({ amounts: { tokens: 70 }, least: { tokens: 21 } }))).toEqual(
      exhausted,
    );
  });
});

describe("a call that is given another payload while it is reserved", () => {
  // Mutant: the same id is the same amounts.
  test("takes what that payload needs in place of what it had, if there is room", async () => {
    const ledger = await ledgerOf("edited");
    const once = asks();
    await ledger.reserve(once);
    const dear = { ...once, amounts: { tokens: 95 } };
    expect(await ledger.reserve(dear)).toEqual(reserved);
    expect(await leftOf(ledger)).toBe(5);
    expect(await ledger.reserve({ ...once, amounts: { tokens: 101 } })).toEqual(exhausted);
    expect(await leftOf(ledger)).toBe(5);
    await ledger.release(once.id);
    expect(await leftOf(ledger)).toBe(100);
  });

  test("counts once at the rate of its tool", async () => {
    const ledger = await ledgerOf("edited-rate");
    const rateLimit = { windowSeconds: MONTH_SECONDS, maxRequests: 1 };
    const once = asks({ rateLimit });
    await ledger.reserve(once);
    expect(await ledger.reserve({ ...once, amounts: { tokens: 20 } })).toEqual(reserved);
    expect((await ledger.reserve(asks({ rateLimit }))).kind).toBe("rate_limited");
  });
});

describe("a reservation is closed once", () => {
  // Mutant: settling what is settled.
  test("and counts what was used in its place, less or more", async () => {
    const ledger = await ledgerOf("settled");
    const less = asks();
    const more = asks();
    await ledger.reserve(less);
    await ledger.reserve(more);
    await ledger.settle(less.id, { tokens: 4 });
    await ledger.settle(less.id, { tokens: 1 });
    await ledger.release(less.id);
    expect(await leftOf(ledger)).toBe(86);
    await ledger.settle(more.id, { tokens: 200 });
    expect(await ledger.reserve(asks({ amounts: { tokens: 1 } }))).toEqual(exhausted);
    await ledger.settle(more.id, { tokens: 0 });
    expect(await ledger.reserve(asks({ amounts: { tokens: 1 } }))).toEqual(exhausted);
  });

  test("and takes nothing more when it is asked for after it was settled", async () => {
    const ledger = await ledgerOf("late");
    const once = asks();
    await ledger.reserve(once);
    await ledger.settle(once.id, { tokens: 2 });
    expect(await ledger.reserve(once)).toEqual(reserved);
    expect(await leftOf(ledger)).toBe(98);
  });

  test("by a release, which gives back all of it, and after which it may be taken anew", async () => {
    const ledger = await ledgerOf("released");
    const once = asks();
    await ledger.reserve(once);
    await ledger.release(once.id);
    await ledger.release(once.id);
    await ledger.settle(once.id, { tokens: 50 });
    expect(await leftOf(ledger)).toBe(100);
    expect(await ledger.reserve(once)).toEqual(reserved);
    expect(await leftOf(ledger)).toBe(90);
  });

  // Mutant: closing by an id alone, in whatever tenant.
  test("by its own tenant, and by no other", async () => {
    const mine = await ledgerOf("mine-alone");
    const theirs = await ledgerOf("theirs-alone");
    const once = asks();
    await mine.reserve(once);
    await theirs.settle(once.id, { tokens: 0 });
    await theirs.release(once.id);
    expect([await leftOf(mine), await leftOf(theirs)]).toEqual([90, 100]);
  });

  test("and one that nobody made changes nothing, and writes nothing", async () => {
    const ledger = tenants.ledgerOf("nobody-reserved" as TenantId);
    await ledger.settle("unknown", { tokens: 5 });
    await ledger.release("unknown");
    const tables = await runInDurableObject(objectOf("nobody-reserved"), (_object, { storage }) =>
      storage.sql
        .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'")
        .toArray(),
    );
    expect(tables).toEqual([]);
  });

  // Mutant: taking whatever is said as a count.
  test.each([
    ["less than nothing", { tokens: -50 }],
    ["a fraction", { tokens: 0.5 }],
    ["no number", { tokens: Number.NaN }],
    ["no end", { tokens: Number.POSITIVE_INFINITY }],
    ["more than can be counted", { tokens: 1e308 }],
    ["a text", { tokens: "0" as unknown as number }],
  ])("not by what is no count: %s", async (name, used) => {
    const ledger = await ledgerOf(`settled-with-${name.replaceAll(" ", "-")}`);
    const once = asks();
    await ledger.reserve(once);
    await ledger.settle(once.id, used);
    expect(await leftOf(ledger)).toBe(90);
    await ledger.settle(once.id, { tokens: 1 });
    expect(await leftOf(ledger)).toBe(99);
  });

  test.each([
    ["a least below nothing", { least: { tokens: -1 } }],
    ["a keeping below nothing", { unsettled: { forMs: 1, keeps: { tokens: -5 } } }],
    ["a time that is no number", { unsettled: { forMs: Number.NaN, keeps: {} } }],
  ])("and not opened with %s", async (name, part) => {
    const ledger = await ledgerOf(`opened-with-${name.replaceAll(" ", "-")}`);
    expect(await ledger.reserve(asks(part))).toEqual({ kind: "unavailable" });
  });
});

test("a least above what is asked for is granted no more than was asked for", async () => {
  const ledger = await ledgerOf("greedy-least");
  const greedy = asks({ amounts: { tokens: 5 }, least: { tokens: 50 } });
  expect(await ledger.reserve(greedy)).toEqual({ kind: "reserved", granted: { tokens: 5 } });
});

describe("a reservation that nobody settles", () => {
  const unsettled = { forMs: HOUR, keeps: { tokens: 4 } };

  test("keeps what it may have used once its time is over, not before", async () => {
    const seen = await inBook("lapse", (book, sql) => {
      book.reserve(asks({ unsettled }), T);
      book.lapse(T + HOUR - 1);
      const before = countedOf(sql);
      book.lapse(T + HOUR);
      const after = countedOf(sql);
      return { before, after, next: book.nextLapseMs() };
    });
    expect(seen).toEqual({ before: [10, 10], after: [4, 4], next: undefined });
  });

  test("keeps no more than it was granted", async () => {
    const counted = await inBook("lapse-granted", (book, sql) => {
      const keeps = { tokens: 90, cost: 7 };
      const amounts = { tokens: 90 };
      const least = { tokens: 10 };
      book.reserve(asks({ amounts: { tokens: 70 } }), T);
      book.reserve(asks({ amounts, least, unsettled: { forMs: 1, keeps } }), T);
      book.lapse(T + 1);
      return countedOf(sql);
    });
    expect(counted).toEqual([100, 100]);
  });

  test("is still closed by who knows better, late", async () => {
    const counted = await inBook("lapse-late", (book, sql) => {
      const [settled, given] = [asks({ unsettled }), asks({ unsettled })];
      book.reserve(settled, T);
      book.reserve(given, T);
      book.lapse(T + HOUR);
      book.settle(settled.id, { tokens: 9 }, T + 2 * HOUR);
      book.release(given.id, T + 2 * HOUR);
      return countedOf(sql);
    });
    expect(counted).toEqual([9, 9]);
  });

  test("stays counted for as long as no alarm has come, however often it is asked for", async () => {
    const answers = await inBook("lapse-again", (book) => {
      const once = asks({ amounts: { tokens: 100 }, unsettled: { forMs: 30 * HOUR, keeps: {} } });
      book.reserve(once, T);
      return [T + 25 * HOUR, T + 40 * HOUR].flatMap((at) => [
        book.reserve(once, at).kind,
        book.reserve(asks(), at).kind,
      ]);
    });
    expect(answers).toEqual(["reserved", "exhausted", "reserved", "exhausted"]);
  });

  // Mutant: no deadline is set for it.
  test("is closed by the alarm of its object, also in another life of it", async () => {
    const ledger = await ledgerOf("alarmed");
    await ledger.reserve(asks({ unsettled: { forMs: 60_000, keeps: { tokens: 1 } } }));
    await ledger.reserve(asks({ unsettled: { forMs: 0, keeps: { tokens: 1 } } }));
    await evictDurableObject(objectOf("alarmed"));
    await expect.poll(() => leftOf(ledger)).toBe(89);
    const alarmMs = await runInDurableObject(objectOf("alarmed"), (_object, { storage }) =>
      storage.getAlarm(),
    );
    expect((alarmMs ?? 0) - Date.now()).toBeGreaterThan(30_000);
  });

  test("leaves no alarm behind once everything is closed", async () => {
    const ledger = await ledgerOf("quiet");
    const once = asks({ unsettled: { forMs: HOUR, keeps: {} } });
    await ledger.reserve(once);
    await ledger.settle(once.id, { tokens: 1 });
    expect(await runDurableObjectAlarm(objectOf("quiet"))).toBe(true);
    expect(await runDurableObjectAlarm(objectOf("quiet"))).toBe(false);
  });

  test("is closed with many others, a bounded number at a time", async () => {
    const seen = await inBook("lapse-many", (book, sql) => {
      const limits = {};
      for (let call = 0; call < 700; call++) book.reserve(asks({ limits, unsettled }), T);
      book.lapse(T + HOUR);
      const first = [countedOf(sql)[0], book.nextLapseMs()];
      book.lapse(T + HOUR);
      return [first, [countedOf(sql)[0], book.nextLapseMs()]];
    });
    expect(seen).toEqual([
      [500 * 4 + 200 * 10, T + HOUR],
      [700 * 4, undefined],
    ]);
  });
});

describe("the window of a reservation", () => {
  const windowSeconds = 3_600;

  test("is the one it was made in, whenever it is settled", async () => {
    const left = await inBook("rolled", (book, sql) => {
      const old = asks({ windowSeconds, amounts: { tokens: 100 } });
      book.reserve(old, T + HOUR - 1);
      // The next window is whole, and what is given back to the old one adds nothing to it.
      const whole = asks({ windowSeconds, amounts: { tokens: 100 } });
      const answers = [book.reserve(whole, T + HOUR).kind];
      book.settle(old.id, { tokens: 1 }, T + HOUR + 1);
      answers.push(book.reserve(asks({ windowSeconds }), T + HOUR + 2).kind);
      const windows = sql.exec("SELECT start_ms, amounts FROM spent ORDER BY start_ms").toArray();
      return { answers, windows };
    });
    expect(left).toEqual({
      answers: ["reserved", "exhausted"],
      windows: [
        { start_ms: T, amounts: '{"tokens":1}' },
        { start_ms: T + HOUR, amounts: '{"tokens":100}' },
      ],
    });
  });

  test("is not brought back by a settlement long after it", async () => {
    const windows = await inBook("cleared", (book, sql) => {
      const old = asks({ windowSeconds });
      book.reserve(old, T);
      book.reserve(asks({ windowSeconds }), T + 3 * HOUR);
      book.settle(old.id, { tokens: 99 }, T + 3 * HOUR);
      return sql.exec("SELECT start_ms, amounts FROM spent").toArray();
    });
    expect(windows).toEqual([{ start_ms: T + 3 * HOUR, amounts: '{"tokens":10}' }]);
  });

  test("holds when the clock steps back between the two", async () => {
    const counted = await inBook("stepped-back", (book, sql) => {
      const once = asks({ windowSeconds, unsettled: { forMs: 1_000, keeps: {} } });
      book.reserve(once, T + HOUR);
      book.settle(once.id, { tokens: 7 }, T - HOUR);
      book.lapse(T - HOUR);
      const again = book.reserve(once, T - HOUR).kind;
      return [again, ...countedOf(sql)];
    });
    expect(counted).toEqual(["reserved", 7, 7]);
  });
});

/** What may happen to a ledger; amounts are small so that limits are met. */
const moves = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("reserve" as const),
      id: fc.nat(12),
      tokens: fc.nat(60),
      least: fc.option(fc.nat(60), { nil: undefined }),
      unsettled: fc.option(fc.record({ forMs: fc.nat(HOUR), keeps: fc.nat(60) }), {
        nil: undefined,
      }),
    }),
    fc.record({ kind: fc.constant("settle" as const), id: fc.nat(12), tokens: fc.nat(80) }),
    fc.record({ kind: fc.constant("release" as const), id: fc.nat(12) }),
    fc.record({ kind: fc.constant("lapse" as const) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: -600_000, max: HOUR }) }),
  ),
  { minLength: 1, maxLength: 40 },
);

test("a book answers and counts as a plain ledger does, whatever happens in whatever order", async () => {
  await inBook("property", (book, sql) => {
    fc.assert(
      fc.property(moves, (script) => {
        for (const table of ["spent", "reserved"]) sql.exec(`DROP TABLE IF EXISTS ${table}`);
        const plain = new PlainLedger();
        let nowMs = T;
        for (const move of script) {
          if (move.kind === "wait") nowMs = Math.max(T, nowMs + move.ms);
          else if (move.kind === "lapse") {
            book.lapse(nowMs);
            plain.lapse(nowMs);
          } else if (move.kind === "settle") {
            book.settle(`${move.id}`, { tokens: move.tokens }, nowMs);
            plain.settle(`${move.id}`, move.tokens);
          } else if (move.kind === "release") {
            book.release(`${move.id}`, nowMs);
            plain.release(`${move.id}`);
          } else {
            const { id, tokens, least, unsettled } = move;
            const answer = book.reserve(
              asks({
                id: `${id}`,
                amounts: { tokens },
                windowSeconds: 7_200,
                ...(least !== undefined && { least: { tokens: least } }),
                ...(unsettled && {
                  unsettled: { forMs: unsettled.forMs, keeps: { tokens: unsettled.keeps } },
                }),
              }),
              nowMs,
            );
            expect(answer).toEqual(plain.reserve({ ...move, id: `${id}`, limit: 100 }, nowMs));
          }
          if (plain.isUsed) {
            const { counted, windowStart } = plain.at(nowMs);
            const [row] = sql
              .exec<{ amounts: string }>(
                "SELECT amounts FROM spent WHERE start_ms = ?",
                windowStart,
              )
              .toArray();
            const spent = row && (JSON.parse(row.amounts) as BudgetAmounts).tokens;
            expect(spent ?? 0).toBe(counted);
          }
        }
      }),
      { numRuns: 400 },
    );
  });
});
