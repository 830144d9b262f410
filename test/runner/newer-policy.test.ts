import { describe, expect, test } from "vitest";
import type { ReservationAnswer } from "../../src/capabilities/budget.ts";
import type { PolicyStore } from "../../src/capabilities/policy.ts";
import { WAITING } from "../../src/runner/waiting.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { policyOf } from "../fakes/fakes.ts";
import { benchFor, endOf, ledgerThat, type BenchSettings } from "../fakes/runner-ports.ts";
import { noteTool } from "../shared/tools.ts";

const allowedTools = ["test__note"];
const PIN = { revision: 2, hash: "sha256:2" };
const CHANGED: ReservationAnswer = { kind: "policy_changed", pin: PIN };

/** The tenant's newer policy, as a document. */
function newer(document: object): PolicyStore {
  return {
    load: () => Promise.reject(new Error("the pointer is not read")),
    learn: () => {},
    read: (_tenant, pin) => Promise.resolve({ policy: policyOf(document), pin }),
  };
}

/** Calls the tool while the policy changes; answers the evidence of the call. */
async function call(settings: BenchSettings, change: object = {}) {
  const { tool, reached } = noteTool(change);
  const bench = benchFor([tool], { ledgerAnswers: [CHANGED], ...settings });
  const outcome = await bench.ask("test__note", { text: "hi" });
  const gates = bench.journal.audits.at(-1)?.gates;
  return { outcome, gates, reached: reached.length, reservations: bench.reservations.length };
}

describe("a refusal by a newer policy is recorded under the gate that refused", () => {
  const rule = { tool: "test__note", field: "/text", must: { equal: "ho" } };
  const priced = { runtime: { cost: { currency: "USD", perCall: 1, unit: "call" } } };
  const connected = { requiresConnection: true, capabilities: ["auth"] };
  // Mutants: the groups are not asked again; their answer is noted as the reservation's.
  test.each<[string, object, object]>([
    ["policy", { allowedTools: [] }, {}],
    ["argument_rules", { allowedTools, argumentRules: [rule] }, {}],
    ["ceilings", { allowedTools, budgets: { maxWrites: 0 } }, {}],
    ["ceilings", { allowedTools, currency: "EUR" }, priced],
    ["authorise", { allowedTools, grants: [] }, connected],
  ])("%s", async (gate, document, change) => {
    const grants = [{ connectionId: "mail", tools: allowedTools }];
    const { gates, reached } = await call(
      {
        policies: newer(document),
        policy: { allowedTools, grants },
        connectionIds: ["mail"] as never,
        broker: { bind: () => Promise.resolve(ok({}) as never) },
      },
      change,
    );
    expect(gates?.refusedBy).toBe(gate);
    expect(reached).toBe(0);
  });

  test("approval, when only the newer policy requires it: the call waits for people", async () => {
    const document = { allowedTools, requireApprovalForEffects: ["state_change"] };
    const { outcome, reached } = await call({ policies: newer(document) });
    expect([outcome, reached]).toEqual([WAITING, 0]);
  });
});

test("a call that a newer policy allows runs once, and its evidence lists each gate once", async () => {
  const { gates, reached, reservations } = await call({ policies: newer({ allowedTools }) });
  expect([reached, reservations]).toEqual([1, 2]);
  expect(gates?.passed).toEqual([...new Set(gates?.passed)]);
  expect(gates?.refusedBy).toBeUndefined();
});

test("the policy may change three times while a call waits; the fourth change ends the call", async () => {
  const changes = (count: number): BenchSettings => ({
    ledgerAnswers: Array.from({ length: count }, () => CHANGED),
    policies: newer({ allowedTools }),
  });
  expect((await call(changes(3))).reached).toBe(1);
  const { outcome, gates, reached, reservations } = await call(changes(4));
  if (outcome === WAITING) throw new Error("the call waits");
  expect(endOf(outcome)).toEqual(["DEPENDENCY_UNAVAILABLE", "ledger_unavailable"]);
  expect([gates?.refusedBy, reached, reservations]).toEqual(["budget", 0, 4]);
});

test("while the policy does not change, a mutation makes one hop to the tenant's object", async () => {
  const hops: string[] = [];
  const { tool } = noteTool();
  const { ask } = benchFor([tool], {
    ledger: ledgerThat(() => {
      hops.push("reserve");
      return Promise.resolve({ kind: "reserved" });
    }),
    registry: {
      current() {
        hops.push("current");
        return Promise.resolve(PIN);
      },
    },
    policies: {
      ...newer({}),
      read: () => Promise.reject(new Error("no document is read")),
    },
  });
  await ask("test__note", { text: "hi" });
  expect(hops).toEqual(["reserve"]);
});

test("a message that arrives while the budget is reserved stops the call, and releases its share", async () => {
  // Mutant: `isStillWanted` is not asked immediately before the dispatch.
  const inbox = { hasSteering: false, takeAll: () => [] };
  const { tool, reached } = noteTool();
  const closed: (readonly unknown[])[] = [];
  const ledger = {
    ...ledgerThat(() => {
      inbox.hasSteering = true;
      return Promise.resolve({ kind: "reserved" });
    }),
    release: async (id: string) => void closed.push([id, "released"]),
  };
  const bench = benchFor([tool], { ledger, inbox });
  const outcome = await bench.call("test__note", { text: "hi" });
  expect(endOf(outcome)).toEqual(["STALE_STATE", "skipped"]);
  expect([reached.length, closed.length]).toEqual([0, 1]);
  expect(bench.journal.records[0]?.dispatches).toBe(0);
  expect(bench.journal.audits.at(-1)?.gates?.refusedBy).toBe("still_wanted");
});

test("at most eight frames lie between `exec` and a tool's `execute`, both counted", async () => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  let stack = "";
  const { tool } = noteTool({
    execute() {
      stack = new Error("here").stack ?? "";
      return ok({ text: "" });
    },
  });
  try {
    expect((await benchFor([tool]).call("test__note", { text: "hi" })).ok).toBe(true);
  } finally {
    Error.stackTraceLimit = before;
  }
  const frames = stack.split("\n").slice(1);
  const exec = frames.findIndex((frame) => /\bexec\b.*tool-runner/.test(frame));
  expect(exec, stack).toBeGreaterThan(0);
  expect(frames.slice(0, exec + 1).length).toBeLessThanOrEqual(8);
});
