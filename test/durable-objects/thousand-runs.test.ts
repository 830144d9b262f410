import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { TenantObject } from "../../durable-objects/tenant/tenant-object.ts";
import { composeTenants } from "../../src/compose/tenant.ts";
import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import type { BudgetAmounts } from "../../src/protocol/budget/amounts.ts";
import type { PolicyPin } from "../../src/protocol/policy/pin.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { seededRandom } from "../../scripts/chaos/seeded-random.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { bindings } from "../shared/worker.ts";

const BY = { actorId: "user:olga" as ActorId };
const TENANT = "thousand" as TenantId;
const RUNS = 1_000;
const LIMITS = { tokens: 400_000, external: 150 };
const POLICY = policyOf({ allowedTools: [] });

const tenants = composeTenants((env as unknown as typeof bindings).TENANTS);
/** A new stub for each call, because a stub breaks when its object crashes. */
const stubOf = (): DurableObjectStub => bindings.TENANTS.get(bindings.TENANTS.idFromName(TENANT));
const ledger = tenants.ledgerOf(TENANT);

interface Row {
  readonly id: string;
  readonly state: string;
  readonly counted: BudgetAmounts;
}

interface Reading {
  readonly spent: BudgetAmounts;
  readonly rows: readonly Row[];
}

const BUDGETS = ["tokens", "external"] as const;
let readings = 0;

/**
 * Reads the ledger. The counted sum never passes the limit, and equals the sum of all reservations.
 */
async function readChecked(): Promise<Reading> {
  // The object may crash meanwhile; the next incarnation answers.
  let reading: Reading | undefined;
  for (let again = 0; !reading && again < 10; again++) {
    reading = await readLedger().catch(() => undefined);
  }
  if (!reading) throw new Error("the object does not stay alive");
  readings++;
  for (const budget of BUDGETS) {
    const counted = reading.rows.map((row) => row.counted);
    expect(sumOf([reading.spent], budget)).toBe(sumOf(counted, budget));
    expect(sumOf([reading.spent], budget)).toBeLessThanOrEqual(LIMITS[budget]);
  }
  return reading;
}

function readLedger(): Promise<Reading> {
  return runInDurableObject(stubOf(), (_object, { storage: { sql } }) => ({
    spent: JSON.parse(
      sql.exec<{ amounts: string }>("SELECT amounts FROM spent").toArray()[0]?.amounts ?? "{}",
    ) as BudgetAmounts,
    rows: sql
      .exec<{ id: string; state: string; counted: string }>(
        "SELECT id, state, counted FROM reserved",
      )
      .toArray()
      .map(({ id, state, counted }) => ({ id, state, counted: JSON.parse(counted) })),
  })) as never;
}

const sumOf = (all: readonly BudgetAmounts[], budget: "tokens" | "external"): number =>
  all.reduce((sum, amounts) => sum + (amounts[budget] ?? 0), 0);

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Number of answers that crashes lost. */
let lost = 0;

/** Crashes the object during a request, before the answer. */
async function crashDuring(ask: (object: TenantObject) => Promise<unknown>): Promise<void> {
  const died = runInDurableObject(stubOf(), async (object, state) => {
    const answer = ask(object as unknown as TenantObject);
    state.abort("died");
    return answer;
  });
  await died.catch(() => lost++);
}

/**
 * Plays the budget side of one run: reserves, uses at most the granted amounts, and settles or
 * releases. Some calls crash the object.
 */
async function playRun(run: number, pin: PolicyPin): Promise<Used> {
  const random = seededRandom(run);
  const isModel = random.chance(60);
  const id = `run_${run}/${isModel ? "model/1.0" : "1:call"}`;
  const amounts = isModel ? { tokens: 500 + random.below(2_000) } : { external: 1 };
  const reservation = {
    id,
    toolId: isModel ? "" : "mail__send",
    amounts,
    ...(isModel && { least: { tokens: 400 } }),
    limits: LIMITS,
    windowSeconds: 31 * 86_400,
    ...(isModel && { unsettled: { forMs: 3_600_000, keeps: amounts } }),
    pin,
  };
  await later(random.below(300));
  if (run % 50 === 7) await crashDuring((object) => object.reserve(reservation));
  let answer = await ledger.reserve(reservation);
  // A crash can lose an answer, so the run repeats the request.
  for (let again = 0; answer.kind === "unavailable" && again < 20; again++) {
    lost++;
    answer = await ledger.reserve(reservation);
  }
  if (run % 20 === 0) await readChecked();
  if (answer.kind !== "reserved") return { id, refused: answer.kind };
  const granted = answer.granted ?? amounts;
  await later(random.below(200));
  const fate = random.below(100);
  if (fate < 15) return { id, granted, used: granted };
  const used = isModel ? { tokens: random.below((granted.tokens ?? 0) + 1) } : granted;
  if (run % 50 === 9) await crashDuring((object) => object.settle(id, used));
  if (fate < 35) {
    await ledger.release(id);
    return { id, granted, used: {} };
  }
  await ledger.settle(id, used);
  return { id, granted, used };
}

type Used =
  | { readonly id: string; readonly refused: string }
  | { readonly id: string; readonly granted: BudgetAmounts; readonly used: BudgetAmounts };

test("a limit holds under a thousand runs at once, with settlements, releases and crashes", async () => {
  await tenants.registry.change(TENANT, POLICY, { expectedRevision: undefined, by: BY });
  const pin = { revision: 1, hash: await hashOf(POLICY as unknown as JsonObject) };
  const ends = await Promise.all(Array.from({ length: RUNS }, (_, run) => playRun(run, pin)));
  const { spent, rows } = await readChecked();

  // Enough crashes lost answers.
  expect([readings > 20, lost >= 20]).toEqual([true, true]);
  const known = new Map(rows.map((row) => [row.id, row]));
  const finished = ends.filter((end) => "used" in end);
  for (const { id, granted, used } of finished) {
    const { state, counted } = known.get(id) ?? {};
    if (state === "open") expect(counted).toEqual(granted);
    else if (state === "released") expect(counted).toEqual({});
    // A crashed object may have stored the first settlement; it ignores the later one then.
    else expect(sumOf([counted ?? {}], "tokens")).toBeLessThanOrEqual(granted.tokens ?? 0);
    if (Number(id.split(/[_/]/)[1]) % 50 !== 9) {
      expect([id, counted]).toEqual([id, state === "open" ? granted : used]);
    }
  }
  for (const budget of BUDGETS) {
    const counted = finished.map(({ id }) => known.get(id)?.counted ?? {});
    // A reservation counts even when its run never got the answer.
    const unanswered = rows.filter(({ id }) => !finished.some((end) => end.id === id));
    const all = [...counted, ...unanswered.map((row) => row.counted)];
    expect(sumOf([spent], budget)).toBe(sumOf(all, budget));
  }
  // Some requests were refused, so the test reached the limits.
  const kinds = new Set(ends.map((end) => ("refused" in end ? end.refused : "finished")));
  expect(kinds).toEqual(new Set(["finished", "exhausted"]));
});
