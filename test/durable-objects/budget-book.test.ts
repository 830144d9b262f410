import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BudgetAmounts } from "../../src/protocol/budget/amounts.ts";
import { PlainLedger } from "../fakes/plain-ledger.ts";
import { asks, countedOf, inBook, HOUR, T } from "../shared/reservations.ts";

describe("the window of a reservation", () => {
  const windowSeconds = 3_600;

  test("is the window in which it was made, however late it is settled", async () => {
    const left = await inBook("rolled", (book, sql) => {
      const old = asks({ windowSeconds, amounts: { tokens: 100 } });
      book.reserve(old, T + HOUR - 1);
      // The next window starts empty, and amounts returned to the old window do not add to it.
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

  test("is not created again by a late settlement", async () => {
    const windows = await inBook("cleared", (book, sql) => {
      const old = asks({ windowSeconds });
      book.reserve(old, T);
      book.reserve(asks({ windowSeconds }), T + 3 * HOUR);
      book.settle(old.id, { tokens: 99 }, T + 3 * HOUR);
      return sql.exec("SELECT start_ms, amounts FROM spent").toArray();
    });
    expect(windows).toEqual([{ start_ms: T + 3 * HOUR, amounts: '{"tokens":10}' }]);
  });

  test("stays the same when the clock steps back before the settlement", async () => {
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

/** Operations on a ledger. The amounts let some sequences reach the limits. */
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

test("a book answers and counts like a plain ledger, for any sequence of operations", async () => {
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

test("a cap counts the cost of its tools as a limit of the tenant does, for any sequence", async () => {
  const windowSeconds = 7_200;
  const tool = { id: "lab__survey", sideEffectClass: "READ_ONLY", effect: "read_only" } as const;
  const capped = { tool, caps: [{ tools: [tool.id], max: 100, windowSeconds }] };
  await inBook("capped", (book, sql) => {
    fc.assert(
      fc.property(moves, (script) => {
        for (const table of ["spent", "reserved", "tool_costs"]) {
          sql.exec(`DROP TABLE IF EXISTS ${table}`);
        }
        const plain = new PlainLedger();
        let nowMs = T;
        for (const move of script) {
          if (move.kind === "wait") nowMs = Math.max(T, nowMs + move.ms);
          else if (move.kind === "lapse") {
            book.lapse(nowMs);
            plain.lapse(nowMs);
          } else if (move.kind === "settle") {
            book.settle(`${move.id}`, { cost: move.tokens }, nowMs);
            plain.settle(`${move.id}`, move.tokens);
          } else if (move.kind === "release") {
            book.release(`${move.id}`, nowMs);
            plain.release(`${move.id}`);
          } else {
            const { tokens: cost, unsettled } = move;
            const id = `${move.id}`;
            const forMs = unsettled && { forMs: unsettled.forMs, keeps: { cost: unsettled.keeps } };
            const asked = { id, amounts: { cost }, limits: {}, windowSeconds, capped };
            const answer = book.reserve(
              asks({ ...asked, ...(forMs && { unsettled: forMs }) }),
              nowMs,
            );
            const { kind } = plain.reserve({ ...move, id, least: undefined, limit: 100 }, nowMs);
            expect(answer).toEqual({ kind: kind === "exhausted" ? "capped" : kind });
          }
          if (!plain.isUsed) continue;
          const { counted, windowStart } = plain.at(nowMs);
          const [row] = sql
            .exec<{ cost: number }>("SELECT cost FROM tool_costs WHERE start_ms = ?", windowStart)
            .toArray();
          expect(row?.cost ?? 0).toBe(counted);
        }
      }),
    );
  });
});
