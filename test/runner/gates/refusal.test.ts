import { describe, expect, test } from "vitest";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import {
  benchFor,
  endOf,
  ledgerThat,
  type BenchSettings,
} from "../../../src/testing/fakes/runner-ports.ts";
import { allowing, refuse } from "../refused-call.ts";
import { noteTool } from "../../shared/tools.ts";

describe("after a gate refuses a call, no later gate and no tool runs", () => {
  const stale = fail({
    taxonomyClass: "STALE_STATE" as const,
    errors: [{ field: null, code: "moved", message: "it moved" }],
  });
  const cases: readonly [string, object, BenchSettings, readonly string[], number, number][] = [
    [
      "5 semantic rule",
      { rules: [{ code: "too_short", message: "expected more", holds: () => false }] },
      {},
      ["SEMANTIC_INVALIDITY", "too_short"],
      0,
      0,
    ],
    [
      "6 permission",
      {},
      { authorizationOf: () => ({ check: () => Promise.resolve("no_permission") }) },
      ["PERMISSION_DENIED", "no_permission"],
      0,
      0,
    ],
    [
      "6 delegation",
      {},
      { authorizationOf: () => ({ check: () => Promise.resolve("no_delegation") }) },
      ["PERMISSION_DENIED", "no_delegation"],
      0,
      0,
    ],
    [
      "6 the permission check fails",
      {},
      { authorizationOf: () => ({ check: () => Promise.reject(new Error("down")) }) },
      ["PERMISSION_DENIED", "no_permission"],
      0,
      0,
    ],
    [
      "6 a required connection is missing",
      { requiresConnection: true, capabilities: ["auth"] },
      {},
      ["PERMISSION_DENIED", "no_connection"],
      1,
      0,
    ],
    [
      "7 argument rule",
      {},
      {
        policy: allowing({
          argumentRules: [{ tool: "test__note", field: "/text", must: { equal: "ho" } }],
        }),
      },
      ["POLICY_VIOLATION", "argument_rule"],
      1,
      0,
    ],
    ["8 state", { checkState: () => stale }, {}, ["STALE_STATE", "moved"], 1, 0],
    [
      "8 the state check throws",
      {
        checkState: () => {
          throw new Error("s3cret");
        },
      },
      {},
      ["UNKNOWN_ERROR", "tool_failed"],
      1,
      0,
    ],
    [
      "10 the run's budget",
      {},
      { policy: allowing({ budgets: { maxWrites: 0 } }) },
      ["BUDGET_EXHAUSTED", "budget_exhausted"],
      1,
      0,
    ],
    [
      "10 the tenant's budget",
      {},
      { ledgerAnswers: [{ kind: "exhausted", budget: "writes" }] },
      ["BUDGET_EXHAUSTED", "budget_exhausted"],
      1,
      1,
    ],
    [
      "10 the ledger is unavailable",
      {},
      { ledgerAnswers: [{ kind: "unavailable" }] },
      ["DEPENDENCY_UNAVAILABLE", "ledger_unavailable"],
      1,
      1,
    ],
    ["10 there is no policy", {}, { pin: undefined }, ["POLICY_VIOLATION", "no_policy"], 1, 0],
  ];
  test.each(cases)("%s", async (_name, change, settings, end, asked, reserved) => {
    expect(await refuse(settings, change)).toEqual({
      end,
      asked: "authorizationOf" in settings ? 0 : asked,
      reserved,
      reached: 0,
    });
  });
});

describe("an exception before the tool runs leaves no unknown outcome", () => {
  test.each([
    [
      "a rule throws",
      {
        rules: [
          {
            code: "r",
            message: "m",
            holds: () => {
              throw new Error("s3cret");
            },
          },
        ],
      },
      ["UNKNOWN_ERROR", "tool_failed"],
      "stop_call",
    ],
    [
      "a rule returns a promise",
      { rules: [{ code: "later", message: "m", holds: () => Promise.resolve(true) }] },
      ["SEMANTIC_INVALIDITY", "later"],
      "ask_or_replan",
    ],
    [
      "a state check returns nothing",
      { checkState: () => undefined },
      ["UNKNOWN_ERROR", "tool_failed"],
      "stop_call",
    ],
  ])("%s", async (_name, change, end, next) => {
    const { tool, reached } = noteTool(change);
    const { call, journal } = benchFor([tool]);
    const result = await call("test__note", { text: "hi" });
    expect(endOf(result)).toEqual(end);
    expect(result.response).toMatchObject({ next_action: next, escalate: false });
    expect(reached).toEqual([]);
    expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
    expect(JSON.stringify(result)).not.toContain("s3cret");
  });

  test("the ledger throws, and the invocation's signal is aborted", async () => {
    let signal: AbortSignal | undefined;
    const { tool, reached } = noteTool({
      checkState: (_args: unknown, _context: unknown, granted: { signal: AbortSignal }) => {
        ({ signal } = granted);
        return ok(null);
      },
    });
    const ledger = ledgerThat(() => Promise.reject(new Error("s3cret")));
    const result = await benchFor([tool], { ledger }).call("test__note", { text: "hi" });
    expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "tool_failed"]);
    expect(result.response.escalate).toBe(false);
    expect(reached).toEqual([]);
    expect(signal?.aborted).toBe(true);
  });
});
