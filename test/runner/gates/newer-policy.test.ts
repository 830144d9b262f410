import { describe, expect, test } from "vitest";
import type { ReservationAnswer } from "../../../src/capabilities/budget.ts";
import type { PolicyStore } from "../../../src/capabilities/policy.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { WAITING } from "../../../src/runner/waiting.ts";
import { policyOf } from "../../../src/testing/fakes/fakes.ts";
import {
  ACME,
  benchFor,
  endOf,
  ledgerThat,
  type BenchSettings,
} from "../../../src/testing/fakes/runner-ports.ts";
import { noteTool } from "../../shared/tools.ts";
import { allowing, refuse } from "../refused-call.ts";

const PIN = { revision: 2, hash: "sha256:2" };
const CHANGED: ReservationAnswer = { kind: "policy_changed", pin: PIN };
const PRICED = { runtime: { cost: { currency: "USD", perCall: 1, unit: "call" } } };
const CONNECTED = { requiresConnection: true, capabilities: ["auth"] };

/** A store whose current policy is this document. */
function newer(document: object): PolicyStore {
  return {
    load: () => Promise.reject(new Error("the pointer is not read")),
    learn: () => {},
    read: (_tenant, pin) => Promise.resolve({ policy: policyOf(document), pin }),
  };
}

/** A policy that grants these connections. */
function granting(...ids: readonly string[]): object {
  return allowing({
    grants: ids.map((connectionId) => ({ connectionId, tools: ["test__note"] })),
  });
}

/** Ports of a run that uses the connection `mail` under its pinned policy. */
const CONNECTION_PORTS: BenchSettings = {
  policy: granting("mail"),
  connectionIds: ["mail", "other"] as never,
  broker: { bind: () => Promise.resolve(ok({ auth: {}, secrets: [] }) as never) },
};

/** Calls the tool while the policy changes, and returns the evidence of the call. */
async function call(settings: BenchSettings, change: object = {}) {
  const { tool, reached } = noteTool(change);
  const bench = benchFor([tool], { ledgerAnswers: [CHANGED], ...settings });
  const outcome = await bench.ask("test__note", { text: "hi" });
  const gates = bench.journal.audits.at(-1)?.gates;
  const { journal, reservations } = bench;
  return { outcome, gates, journal, reached: reached.length, reservations: reservations.length };
}

describe("the evidence names the gate where a newer policy refused the call", () => {
  const rule = { tool: "test__note", field: "/text", must: { equal: "ho" } };
  test.each<[string, string, object, object, readonly string[]]>([
    [
      "the tool is no longer allowed",
      "policy",
      { allowedTools: [] },
      {},
      ["POLICY_VIOLATION", "not_allowed"],
    ],
    [
      "the policy has a new argument rule",
      "argument_rules",
      allowing({ argumentRules: [rule] }),
      {},
      ["POLICY_VIOLATION", "argument_rule"],
    ],
    [
      "the run's limit of writes is lower",
      "ceilings",
      allowing({ budgets: { maxWrites: 0 } }),
      {},
      ["BUDGET_EXHAUSTED", "budget_exhausted"],
    ],
    [
      "the run's limit of cost is lower",
      "ceilings",
      allowing({ budgets: { maxCost: 0.5 } }),
      PRICED,
      ["BUDGET_EXHAUSTED", "budget_exhausted"],
    ],
    [
      "the policy counts another currency",
      "ceilings",
      allowing({ currency: "EUR" }),
      PRICED,
      ["POLICY_VIOLATION", "other_currency"],
    ],
    [
      "the connection is no longer granted",
      "authorise",
      granting(),
      CONNECTED,
      ["PERMISSION_DENIED", "no_connection"],
    ],
    [
      "only another connection is granted",
      "authorise",
      granting("other"),
      CONNECTED,
      ["PERMISSION_DENIED", "no_connection"],
    ],
  ])("%s", async (_name, gate, document, change, end) => {
    const settings = { ...CONNECTION_PORTS, policies: newer(document) };
    const { outcome, gates, journal, reached, reservations } = await call(settings, change);
    if (outcome === WAITING) throw new Error("the call waits");
    expect(endOf(outcome)).toEqual(end);
    expect(gates?.refusedBy).toBe(gate);
    expect([reached, reservations]).toEqual([0, 1]);
    expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
  });
});

test("a call waits for approval when only the newer policy requires approval", async () => {
  const document = allowing({ requireApprovalForEffects: ["state_change"] });
  const { outcome, reached } = await call({ policies: newer(document) });
  expect([outcome, reached]).toEqual([WAITING, 0]);
});

test("a call succeeds when the newer policy still grants its connection", async () => {
  const settings = { ...CONNECTION_PORTS, policies: newer(granting("mail")) };
  const { outcome } = await call(settings, CONNECTED);
  if (outcome === WAITING) throw new Error("the call waits");
  expect(endOf(outcome)[0]).toBe("SUCCESS");
});

test("a call that a newer policy allows runs once, and its evidence lists each gate once", async () => {
  const { gates, reached, reservations } = await call({ policies: newer(allowing()) });
  expect([reached, reservations]).toEqual([1, 2]);
  expect(gates?.passed).toEqual([...new Set(gates?.passed)]);
  expect(gates?.refusedBy).toBeUndefined();
});

test("a call ends after the fourth change of policy, and survives three changes", async () => {
  const changes = (count: number): BenchSettings => ({
    ledgerAnswers: Array.from({ length: count }, () => CHANGED),
    policies: newer(allowing()),
  });
  expect((await call(changes(3))).reached).toBe(1);
  const { outcome, gates, reached, reservations } = await call(changes(4));
  if (outcome === WAITING) throw new Error("the call waits");
  expect(endOf(outcome)).toEqual(["DEPENDENCY_UNAVAILABLE", "ledger_unavailable"]);
  expect([gates?.refusedBy, reached, reservations]).toEqual(["budget", 0, 4]);
});

test("a call is refused when the tenant no longer has a policy", async () => {
  const gone: ReservationAnswer = { kind: "policy_changed", pin: undefined };
  expect(await refuse({ ledgerAnswers: [gone] })).toMatchObject({
    end: ["POLICY_VIOLATION", "no_policy"],
  });
});

test("a mutation makes one request to the tenant's object while the policy does not change", async () => {
  const requests: string[] = [];
  const { tool } = noteTool();
  const { ask } = benchFor([tool], {
    ledger: ledgerThat(() => {
      requests.push("reserve");
      return Promise.resolve({ kind: "reserved" });
    }),
    registry: {
      current() {
        requests.push("current");
        return Promise.resolve(PIN);
      },
    },
    policies: {
      ...newer({}),
      read: () => Promise.reject(new Error("no document is read")),
    },
  });
  await ask("test__note", { text: "hi" });
  expect(requests).toEqual(["reserve"]);
});

test("the lower limit of the pinned and the newer policy holds", async () => {
  const rate = (maxRequests: number, windowSeconds = 60) => ({
    allowedTools: [{ id: "test__note", rateLimit: { windowSeconds, maxRequests } }],
  });
  const reserve = async (pinned: object, later: object) => {
    const { tool } = noteTool();
    const settings = { policy: pinned, ledgerAnswers: [CHANGED], policies: newer(later) };
    const bench = benchFor([tool], settings);
    expect((await bench.call("test__note", { text: "hi" })).ok).toBe(true);
    return bench.reservations[1];
  };
  const limits = await reserve(
    allowing({ tenantBudgets: { maxWrites: 5, maxReads: 9 } }),
    allowing({ tenantBudgets: { maxWrites: 50, maxReads: 2, maxExternal: 3 } }),
  );
  expect(limits?.limits).toEqual({ writes: 5, reads: 2, external: 3, critical: 0 });
  const ten = { windowSeconds: 60, maxRequests: 10 };
  expect((await reserve(rate(10), rate(20)))?.rateLimit).toEqual(ten);
  expect((await reserve(rate(20), rate(10)))?.rateLimit).toEqual(ten);
  expect((await reserve(rate(10), allowing()))?.rateLimit).toEqual(ten);
  expect((await reserve(rate(10), rate(20, 6)))?.rateLimit).toEqual(ten);
});

test("the isolate remembers the newer policy", async () => {
  const learnt: unknown[] = [];
  const policies = {
    ...newer(allowing()),
    learn: (...said: unknown[]) => void learnt.push(said),
  };
  const { outcome } = await call({ policies });
  expect(outcome).toMatchObject({ ok: true });
  expect(learnt).toEqual([[ACME, PIN]]);
});

test("the second reservation carries the pin and the limits of the newer policy", async () => {
  const { tool, reached } = noteTool();
  const policies = newer(allowing({ tenantBudgets: { maxWrites: 7 } }));
  const bench = benchFor([tool], { ledgerAnswers: [CHANGED], policies });
  expect((await bench.call("test__note", { text: "hi" })).ok).toBe(true);
  expect(bench.reservations.map(({ pin, limits }) => [pin.revision, limits.writes])).toEqual([
    [1, undefined],
    [2, 7],
  ]);
  expect(reached.length).toBe(1);
});
