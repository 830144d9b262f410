import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import {
  objectOf,
  ledgerOf,
  asks,
  inBook,
  countedOf,
  leftOf,
  HOUR,
  T,
} from "../shared/reservations.ts";

describe("a reservation that is never settled", () => {
  const unsettled = { forMs: HOUR, keeps: { tokens: 4 } };

  test("counts the amounts that it may have used once it lapses, not before", async () => {
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

  test("counts no more than it was granted", async () => {
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

  test("is still closed by a late settlement or release", async () => {
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

  test("stays counted until an alarm closes it, however often it is requested", async () => {
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

  test("is closed by the alarm of its object, even in a later incarnation", async () => {
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

  test("leaves no alarm once all reservations are closed", async () => {
    const ledger = await ledgerOf("quiet");
    const once = asks({ unsettled: { forMs: HOUR, keeps: {} } });
    await ledger.reserve(once);
    await ledger.settle(once.id, { tokens: 1 });
    expect(await runDurableObjectAlarm(objectOf("quiet"))).toBe(true);
    expect(await runDurableObjectAlarm(objectOf("quiet"))).toBe(false);
  });

  test("is closed together with a bounded number of others per alarm", async () => {
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
