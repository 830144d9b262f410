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
import { policyOf } from "../fakes/fakes.ts";
import { bindings } from "../shared/worker.ts";

const BY = { actorId: "user:olga" as ActorId };
const TENANT = "thousand" as TenantId;
const RUNS = 1_000;
const LIMITS = { tokens: 400_000, external: 150 };
const POLICY = policyOf({ allowedTools: [] });

const tenants = composeTenants((env as unknown as typeof bindings).TENANTS);
/** A stub of its own each time: it breaks with the object. */
const stubOf = (): DurableObjectStub => bindings.TENANTS.get(bindings.TENANTS.idFromName(TENANT));
const ledger = tenants.ledgerOf(TENANT);

interface Row {
  readonly id: string;
  readonly state: string;
  readonly counted: BudgetAmounts;
}

interface Sight {
  readonly spent: BudgetAmounts;
  readonly rows: readonly Row[];
}

const BUDGETS = ["tokens", "external"] as const;
let looks = 0;

/**
 * Looks what the ledger counts, and of what: never more than the limit, and in all as much as of
 * each.
 */
async function look(): Promise<Sight> {
  // An object that dies meanwhile is looked at in its next life.
  let sight: Sight | undefined;
  for (let again = 0; !sight && again < 10; again++) {
    sight = await readLedger().catch(() => undefined);
  }
  if (!sight) throw new Error("the object does not stay alive");
  looks++;
  for (const budget of BUDGETS) {
    const counted = sight.rows.map((row) => row.counted);
    expect(sumOf([sight.spent], budget)).toBe(sumOf(counted, budget));
    expect(sumOf([sight.spent], budget)).toBeLessThanOrEqual(LIMITS[budget]);
  }
  return sight;
}

function readLedger(): Promise<Sight> {
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

/** Answers that the runs did not get. */
let lost = 0;

/** Lets the object die on what it was asked, before it could answer. */
async function die(ask: (object: TenantObject) => Promise<unknown>): Promise<void> {
  const died = runInDurableObject(stubOf(), async (object, state) => {
    const answer = ask(object as unknown as TenantObject);
    state.abort("died");
    return answer;
  });
  await died.catch(() => lost++);
}

/**
 * A run as far as budgets go: it holds, uses what it was granted or less, and tells, unless
 * somebody dies.
 */
async function live(run: number, pin: PolicyPin): Promise<Used> {
  const random = seededRandom(run);
  const isModel = random.chance(60);
  const id = `run_${run}/${isModel ? "model/1.0" : "1:call"}`;
  const asked = isModel ? { tokens: 500 + random.below(2_000) } : { external: 1 };
  const reservation = {
    id,
    toolId: isModel ? "" : "mail__send",
    amounts: asked,
    ...(isModel && { least: { tokens: 400 } }),
    limits: LIMITS,
    windowSeconds: 31 * 86_400,
    ...(isModel && { unsettled: { forMs: 3_600_000, keeps: asked } }),
    pin,
  };
  await later(random.below(300));
  if (run % 50 === 7) await die((object) => object.reserve(reservation));
  let answer = await ledger.reserve(reservation);
  // An answer that was lost with its object is asked for again.
  for (let again = 0; answer.kind === "unavailable" && again < 20; again++) {
    lost++;
    answer = await ledger.reserve(reservation);
  }
  if (run % 20 === 0) await look();
  if (answer.kind !== "reserved") return { id, refused: answer.kind };
  const granted = answer.granted ?? asked;
  await later(random.below(200));
  const fate = random.below(100);
  if (fate < 15) return { id, granted, used: granted };
  const used = isModel ? { tokens: random.below((granted.tokens ?? 0) + 1) } : granted;
  if (run % 50 === 9) await die((object) => object.settle(id, used));
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

// Mutants: open reservations are not counted; a settlement is counted twice; reserving is not one
// step.
test("a thousand runs at once do not pass a limit, whatever is settled, given back or dies", async () => {
  await tenants.registry.change(TENANT, POLICY, { expectedRevision: undefined, by: BY });
  const pin = { revision: 1, hash: await hashOf(POLICY as unknown as JsonObject) };
  const ends = await Promise.all(Array.from({ length: RUNS }, (_, run) => live(run, pin)));
  const { spent, rows } = await look();

  // Objects died, and took answers with them.
  expect([looks > 20, lost >= 20]).toEqual([true, true]);
  const known = new Map(rows.map((row) => [row.id, row]));
  const lived = ends.filter((end) => "used" in end);
  for (const { id, granted, used } of lived) {
    const { state, counted } = known.get(id) ?? {};
    if (state === "open") expect(counted).toEqual(granted);
    else if (state === "released") expect(counted).toEqual({});
    // What an object was told as it died, it may have heard; then the word that came after is not
    // taken.
    else expect(sumOf([counted ?? {}], "tokens")).toBeLessThanOrEqual(granted.tokens ?? 0);
    if (Number(id.split(/[_/]/)[1]) % 50 !== 9) {
      expect([id, counted]).toEqual([id, state === "open" ? granted : used]);
    }
  }
  for (const budget of BUDGETS) {
    const counted = lived.map(({ id }) => known.get(id)?.counted ?? {});
    // A reservation counts that its run never heard of, and nobody uses it.
    const unheard = rows.filter(({ id }) => !lived.some((end) => end.id === id));
    const all = [...counted, ...unheard.map((row) => row.counted)];
    expect(sumOf([spent], budget)).toBe(sumOf(all, budget));
  }
  // The limits were met, so they were put to the test.
  const kinds = new Set(ends.map((end) => ("refused" in end ? end.refused : "lived")));
  expect(kinds).toEqual(new Set(["lived", "exhausted"]));
});
