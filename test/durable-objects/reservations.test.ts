import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import type { TenantId } from "../../src/protocol/identity/ids.ts";
import {
  objectOf,
  ledgerOf,
  asks,
  reserved,
  exhausted,
  leftOf,
  HOUR,
  MONTH_SECONDS,
  tenants,
} from "../shared/reservations.ts";

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

  test("is granted the rest of the budget if that is enough, and the same amount when repeated", async () => {
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

describe("a reserved call whose arguments are edited", () => {
  test("replaces its reserved amounts by those of the new arguments, within the limit", async () => {
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

  test("counts once for the rate limit of its tool", async () => {
    const ledger = await ledgerOf("edited-rate");
    const rateLimit = { windowSeconds: MONTH_SECONDS, maxRequests: 1 };
    const once = asks({ rateLimit });
    await ledger.reserve(once);
    expect(await ledger.reserve({ ...once, amounts: { tokens: 20 } })).toEqual(reserved);
    expect((await ledger.reserve(asks({ rateLimit }))).kind).toBe("rate_limited");
  });
});

describe("a reservation is closed once", () => {
  test("and then counts the used amounts, less or more than reserved", async () => {
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

  test("and reserves nothing more when it is requested after its settlement", async () => {
    const ledger = await ledgerOf("late");
    const once = asks();
    await ledger.reserve(once);
    await ledger.settle(once.id, { tokens: 2 });
    expect(await ledger.reserve(once)).toEqual(reserved);
    expect(await leftOf(ledger)).toBe(98);
  });

  test("by a release, which returns all amounts and allows a new reservation", async () => {
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

  test("by its own tenant only", async () => {
    const mine = await ledgerOf("mine-alone");
    const theirs = await ledgerOf("theirs-alone");
    const once = asks();
    await mine.reserve(once);
    await theirs.settle(once.id, { tokens: 0 });
    await theirs.release(once.id);
    expect([await leftOf(mine), await leftOf(theirs)]).toEqual([90, 100]);
  });

  test("and closing an unknown one changes and writes nothing", async () => {
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

  test.each([
    ["a negative number", { tokens: -50 }],
    ["a fraction", { tokens: 0.5 }],
    ["NaN", { tokens: Number.NaN }],
    ["infinity", { tokens: Number.POSITIVE_INFINITY }],
    ["an inexact number", { tokens: 1e308 }],
    ["a text", { tokens: "0" as unknown as number }],
  ])("and not by an invalid amount: %s", async (name, used) => {
    const ledger = await ledgerOf(`settled-with-${name.replaceAll(" ", "-")}`);
    const once = asks();
    await ledger.reserve(once);
    await ledger.settle(once.id, used);
    expect(await leftOf(ledger)).toBe(90);
    await ledger.settle(once.id, { tokens: 1 });
    expect(await leftOf(ledger)).toBe(99);
  });

  test.each([
    ["a negative least amount", { least: { tokens: -1 } }],
    ["a negative amount to keep", { unsettled: { forMs: 1, keeps: { tokens: -5 } } }],
    ["an invalid time", { unsettled: { forMs: Number.NaN, keeps: {} } }],
  ])("and never opened with %s", async (name, part) => {
    const ledger = await ledgerOf(`opened-with-${name.replaceAll(" ", "-")}`);
    expect(await ledger.reserve(asks(part))).toEqual({ kind: "unavailable" });
  });
});

test("a least amount above the request is granted no more than the request", async () => {
  const ledger = await ledgerOf("greedy-least");
  const greedy = asks({ amounts: { tokens: 5 }, least: { tokens: 50 } });
  expect(await ledger.reserve(greedy)).toEqual({ kind: "reserved", granted: { tokens: 5 } });
});
