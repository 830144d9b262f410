import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { ConsentList } from "../../durable-objects/tenant/head/consent-list.ts";
import { BudgetBook } from "../../durable-objects/tenant/head/budget-book.ts";
import type { BudgetLedger, Reservation } from "../../src/capabilities/budget.ts";
import { createKvPolicyStore } from "../../src/adapters/policy/kv-policy-store.ts";
import { PolicyCache } from "../../src/adapters/policy/policy-cache.ts";
import { composeTenants } from "../../src/compose/tenant.ts";
import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import type { ConsentGrant } from "../../src/protocol/consent/consent.ts";
import type { ActorId, ApprovalId, RunId, TenantId } from "../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { PolicyPin } from "../../src/protocol/policy/pin.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { bindings } from "../shared/worker.ts";

const tenants = composeTenants((env as unknown as typeof bindings).TENANTS);
const objectOf = (tenant: string): DurableObjectStub =>
  bindings.TENANTS.get(bindings.TENANTS.idFromName(tenant));
const DAY = 86_400;
const BY = { actorId: "user:ann" as ActorId };

const FIRST = policyOf({ allowedTools: [] });
const SECOND = policyOf({ allowedTools: [], currency: "EUR" });
const [hash, secondHash] = await Promise.all(
  [FIRST, SECOND].map((policy) => hashOf(policy as unknown as JsonObject)),
);
const firstPin = { revision: 1, hash } as PolicyPin;

/** Ledger of a tenant with a policy, because a reservation needs a pin. */
async function ledgerOf(tenant: string): Promise<BudgetLedger> {
  await tenants.registry.change(tenant as TenantId, FIRST, { expectedRevision: undefined, by: BY });
  return tenants.ledgerOf(tenant as TenantId);
}

let next = 0;
const asks = (part: Partial<Reservation> = {}): Reservation => ({
  id: `reservation-${next++}`,
  toolId: "mail__send",
  amounts: { external: 1 },
  limits: { external: 3, critical: 0 },
  windowSeconds: 31 * DAY,
  pin: firstPin,
  ...part,
});
const reserved = { kind: "reserved" };

describe("a policy pin", () => {
  test("of no policy reserves nothing and writes nothing", async () => {
    const ledger = tenants.ledgerOf("unknown" as TenantId);
    const none = { kind: "policy_changed", pin: undefined };
    expect(await ledger.reserve(asks())).toEqual(none);
    const unpinned = asks({ pin: undefined as unknown as PolicyPin });
    expect(await ledger.reserve(unpinned)).toEqual(none);
    const tables = await runInDurableObject(objectOf("unknown"), (_object, { storage }) =>
      storage.sql
        .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'")
        .toArray(),
    );
    expect(tables).toEqual([]);
  });

  test("that is not current reserves nothing, even for a known reservation", async () => {
    const ledger = await ledgerOf("changed");
    const once = asks();
    expect(await ledger.reserve(once)).toEqual(reserved);
    await tenants.registry.change("changed" as TenantId, SECOND, { expectedRevision: 1, by: BY });
    const pin = { revision: 2, hash: secondHash } as PolicyPin;
    for (const revision of [1, 3]) {
      const answer = await ledger.reserve({ ...once, pin: { ...pin, revision } });
      expect(answer).toEqual({ kind: "policy_changed", pin });
    }
    expect(await ledger.reserve({ ...once, pin })).toEqual(reserved);
  });

  test("from an old pointer in KV is refused", async () => {
    const ledger = await ledgerOf("rolled-back");
    const tenantId = "rolled-back" as TenantId;
    const old = (await bindings.POLICY.get("policy/rolled-back/current")) ?? "";
    await tenants.registry.change(tenantId, SECOND, { expectedRevision: 1, by: BY });
    await bindings.POLICY.put("policy/rolled-back/current", old);
    const store = createKvPolicyStore({
      kv: bindings.POLICY,
      clock: new FakeClock(),
      cache: new PolicyCache(),
    });
    const { pin } = await store.load(tenantId);
    expect(pin).toEqual(firstPin);
    const answer = await ledger.reserve(asks());
    expect(answer).toMatchObject({ kind: "policy_changed", pin: { revision: 2 } });
  });

  test("with the current revision and another document is refused", async () => {
    const ledger = await ledgerOf("forged");
    const tenantId = "forged" as TenantId;
    await tenants.registry.change(tenantId, SECOND, { expectedRevision: 1, by: BY });
    const forged = { revision: 2, hash: firstPin.hash };
    await bindings.POLICY.put("policy/forged/current", JSON.stringify(forged));
    const store = createKvPolicyStore({
      kv: bindings.POLICY,
      clock: new FakeClock(),
      cache: new PolicyCache(),
    });
    expect((await store.load(tenantId)).pin).toEqual(forged);
    const answer = await ledger.reserve(asks({ pin: forged }));
    const pin = { revision: 2, hash: secondHash } as PolicyPin;
    expect(answer).toEqual({ kind: "policy_changed", pin });
    store.learn(tenantId, pin);
    expect((await store.load(tenantId)).pin).toEqual(pin);
  });
});

describe("a limit", () => {
  test("holds under a thousand simultaneous reservations", { timeout: 30_000 }, async () => {
    const ledger = await ledgerOf("crowd");
    const limits = { external: 137, cost: 1_000_000 };
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, () =>
        ledger.reserve(asks({ amounts: { external: 1, cost: 5_000 }, limits })),
      ),
    );
    const count = (kind: string): number => answers.filter((answer) => answer.kind === kind).length;
    expect([count("reserved"), count("exhausted")]).toEqual([137, 863]);
  });

  test("counts one reservation once under simultaneous repeats", async () => {
    const ledger = await ledgerOf("again");
    const once = asks();
    const answers = await Promise.all(Array.from({ length: 50 }, () => ledger.reserve(once)));
    expect(answers).toEqual(answers.map(() => reserved));
    const rest = await Promise.all([asks(), asks(), asks()].map((each) => ledger.reserve(each)));
    expect(rest.map(({ kind }) => kind)).toEqual(["reserved", "reserved", "exhausted"]);
    expect(await ledger.reserve(once)).toEqual(reserved);
  });

  test("of one budget, when exceeded, uses nothing of the other budgets", async () => {
    const ledger = await ledgerOf("whole");
    const limits = { external: 3, financial: 10 };
    const dear = asks({ amounts: { external: 1, financial: 11 }, limits });
    for (let attempt = 0; attempt < 5; attempt++) {
      expect(await ledger.reserve(dear)).toEqual({ kind: "exhausted", budget: "financial" });
    }
    const cheap = { amounts: { external: 1, financial: 3 }, limits };
    const kinds = [];
    for (let call = 0; call < 4; call++) kinds.push((await ledger.reserve(asks(cheap))).kind);
    expect(kinds).toEqual(["reserved", "reserved", "reserved", "exhausted"]);
  });

  test("holds across an eviction, and for one tenant only", async () => {
    const limits = { external: 1 };
    const ledger = await ledgerOf("mine");
    expect(await ledger.reserve(asks({ limits }))).toEqual(reserved);
    await evictDurableObject(objectOf("mine"));
    expect(await ledger.reserve(asks({ limits }))).toEqual({
      kind: "exhausted",
      budget: "external",
    });
    expect(await (await ledgerOf("theirs")).reserve(asks({ limits }))).toEqual(reserved);
  });

  test("of zero critical calls refuses a critical call", async () => {
    const ledger = await ledgerOf("critical");
    const answer = await ledger.reserve(asks({ amounts: { critical: 1 } }));
    expect(answer).toEqual({ kind: "exhausted", budget: "critical" });
  });

  test.each([
    ["a negative amount", { amounts: { financial: -5 } }],
    ["a fraction", { amounts: { cost: 0.5 } }],
    ["an amount that is no number", { amounts: { cost: Number.NaN } }],
    ["an amount beyond exact numbers", { amounts: { cost: 2 ** 53 } }],
    ["a limit that is no number", { limits: { external: Number.NaN } }],
    ["a window of no length", { windowSeconds: 0 }],
    ["a window that is no number", { windowSeconds: Number.NaN }],
    ["a rate that is no number", { rateLimit: { windowSeconds: 1, maxRequests: Number.NaN } }],
  ])("refuses to count %s", async (name, part) => {
    const tenant = name.replaceAll(" ", "-");
    const ledger = await ledgerOf(tenant);
    expect(await ledger.reserve(asks(part))).toEqual({ kind: "unavailable" });
  });
});

test("an unreachable ledger answers `unavailable`", async () => {
  const broken = { idFromName: () => "id", get: () => ({}) } as unknown as DurableObjectNamespace;
  const ledger = composeTenants(broken).ledgerOf("acme" as TenantId);
  expect(await ledger.reserve(asks())).toEqual({ kind: "unavailable" });
});

test("a rate limit holds for one tool and answers the delay until the next call", async () => {
  const ledger = await ledgerOf("rate");
  const rateLimit = { windowSeconds: 30 * DAY, maxRequests: 2 };
  const limits = {};
  const call = (toolId: string) => ledger.reserve(asks({ toolId, rateLimit, limits }));
  const answers = [await call("a"), await call("a"), await call("b")];
  expect(answers).toEqual(answers.map(() => reserved));
  const answer = await call("a");
  expect(answer.kind).toBe("rate_limited");
  const waitMs = answer.kind === "rate_limited" ? answer.retryAfterMs : 0;
  expect(waitMs).toBeGreaterThan(0);
  expect(waitMs).toBeLessThanOrEqual(30 * DAY * 1_000);
});

describe("a window", () => {
  const hour = 3_600_000;
  const T = 1_000 * 24 * hour;
  const inBook = <R>(
    name: string,
    use: (book: BudgetBook, sql: SqlStorage) => R | Promise<R>,
  ): Promise<R> =>
    runInDurableObject(objectOf(name), (_object, { storage }) =>
      use(new BudgetBook(storage, new ConsentList(storage.sql)), storage.sql),
    );

  test("starts when the previous window has ended, not before", async () => {
    const kinds = await inBook("windows", (book) => {
      const hourly = { windowSeconds: 3_600, limits: { external: 1 } };
      return [T, T + hour - 1, T + hour, T + 2 * hour - 1, T + 2 * hour].map(
        (nowMs) => book.reserve(asks(hourly), nowMs).kind,
      );
    });
    expect(kinds).toEqual(["reserved", "exhausted", "reserved", "exhausted", "reserved"]);
  });

  test("allows a tool its calls again after a rate-limited window", async () => {
    const answers = await inBook("rates", (book) => {
      const rateLimit = { windowSeconds: 60, maxRequests: 1 };
      const at = (nowMs: number) => book.reserve(asks({ rateLimit, limits: {} }), nowMs);
      return [at(T), at(T + 45_000), at(T + 60_000)];
    });
    expect(answers).toEqual([reserved, { kind: "rate_limited", retryAfterMs: 15_000 }, reserved]);
  });

  test("is not reset when the clock steps back a little", async () => {
    const kinds = await inBook("skew", (book) => {
      const hourly = { windowSeconds: 3_600, limits: { external: 1 } };
      return [T + hour - 1, T + hour, T + hour - 1].map(
        (nowMs) => book.reserve(asks(hourly), nowMs).kind,
      );
    });
    expect(kinds).toEqual(["reserved", "reserved", "exhausted"]);
  });

  test("is deleted later, so that storage holds a bounded number of rows", async () => {
    const rows = await inBook("pruned", (book, sql) => {
      const rateLimit = { windowSeconds: 1, maxRequests: 1 };
      for (let second = 0; second < 3_000; second++) {
        const nowMs = T + second * 60_000;
        book.reserve(asks({ windowSeconds: 1, rateLimit, limits: {} }), nowMs);
      }
      return ["spent", "tool_calls", "reserved"].map(
        (table) => sql.exec<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`).one().rows,
      );
    });
    expect(rows).toEqual([1, 1, 1_440]);
  });

  test("does not limit a repeated reservation, which stays known for a day", async () => {
    const kinds = await inBook("remembered", (book) => {
      const once = asks({ windowSeconds: 1, limits: { external: 0 } });
      const free = { ...once, limits: {} };
      return [
        book.reserve(free, T).kind,
        book.reserve(once, T + 24 * hour - 1).kind,
        book.reserve(once, T + 24 * hour).kind,
      ];
    });
    expect(kinds).toEqual(["reserved", "reserved", "exhausted"]);
  });
});

describe("a consent", () => {
  const T = 1_000 * DAY * 1_000;
  const claim = {
    prints: ["print"],
    conversationId: "run_1" as RunId,
    within: "conversation",
    maxCalls: 9,
    maxSeconds: DAY,
  } as const;
  const grant: ConsentGrant = {
    ...claim,
    id: "cons_1",
    approvalId: "appr_1" as ApprovalId,
    person: "user:ann" as ActorId,
    print: "print",
    calls: 1,
    untilMs: T + 3_600_000,
    toolId: "lab__archive",
    toolVersion: "1.0.0",
  };
  const named = asks({ consent: { ...claim, id: "cons_1" } });

  test("is used once by a reservation, given back with it, and not used after its time", async () => {
    const seen = await runInDurableObject(objectOf("consents"), (_object, { storage }) => {
      const consents = new ConsentList(storage.sql);
      const book = new BudgetBook(storage, consents);
      const at = (nowMs: number, reservation: Reservation) => book.reserve(reservation, nowMs).kind;
      const grants = [consents.grant(grant, T), consents.grant(grant, T)];
      const other = { ...named, id: "another" };
      const first = [at(T, named), at(T, named), at(T, other)];
      const peeked = book.peek(asks({ consent: claim }), T);
      book.release(named.id, T);
      const unnamed = book.peek(asks({ consent: claim }), T);
      // Another consent than the one that a reservation used is looked for anew.
      const second = [at(T, other), at(T, { ...other, consent: { ...claim, id: "cons_2" } })];
      book.release(other.id, T);
      const late = at(T + 3_600_000, named);
      return { grants, first, peeked, unnamed, second, late };
    });
    expect(seen).toEqual({
      grants: [true, false],
      first: ["reserved", "reserved", "no_consent"],
      peeked: reserved,
      unnamed: { ...reserved, consentId: "cons_1" },
      second: ["reserved", "no_consent"],
      late: "no_consent",
    });
  });
});
