import { describe, expect, test } from "vitest";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { benchFor, endOf } from "../../../src/testing/fakes/runner-ports.ts";
import { never } from "../answers.ts";
import {
  ARGS,
  AT,
  COMMITTED,
  NAME,
  INTERRUPTIONS,
  resumeAfter,
  crashWhileRunning,
  toolOf,
  works,
} from "./interrupted-call.ts";

const INCONCLUSIVE = {
  unknown: { reconcile: () => ({ kind: "unknown" }) },
  throwing: { reconcile: INTERRUPTIONS.throw },
  rejecting: { reconcile: () => Promise.reject(new Error("s3cret")) },
  hanging: { reconcile: never },
  nonsense: { reconcile: () => ({ kind: "perhaps" }) },
  nothing: { reconcile: () => undefined },
  none: {},
} as const;

describe.each(["timeout", "throw", "crash"] as const)("after a %s", (interruption) => {
  test.each(Object.entries(INCONCLUSIVE))(
    "a write with this reconcile answer runs once and waits for an operator: %s",
    async (_name, change) => {
      const { tool, keys } = toolOf([INTERRUPTIONS[interruption], works], change);
      const { outcome, bench, record } = await resumeAfter(interruption, tool);
      expect(outcome).toBe("waiting");
      expect(keys.length).toBe(1);
      expect(record).toMatchObject({ state: "PENDING", dispatches: 1 });
      expect(record.end).toBeUndefined();
      const untilMs = record.awaitedUntilMs ?? 0;
      expect(bench.journal.events.at(-1)).toMatchObject({ type: "tool_call_waiting", untilMs });
      // The wait begins now, so the operator has all of it.
      expect(untilMs).toBe(bench.clock.nowMs() + 60_000);
      expect(JSON.stringify(bench.journal.events)).not.toContain("s3cret");
    },
  );

  test("a write that reconcile finds committed completes with the found output and is not repeated", async () => {
    const { tool, keys } = toolOf([INTERRUPTIONS[interruption], works], { reconcile: COMMITTED });
    const { outcome, record } = await resumeAfter(interruption, tool);
    expect(keys.length).toBe(1);
    expect(record).toMatchObject({ state: "COMPLETED", dispatches: 1 });
    expect(outcome).toMatchObject({
      ok: true,
      value: { text: "found" },
      observation: { execution_metadata: { idempotency_hit: true } },
    });
  });

  test("a committed write with an invalid output ends as completed", async () => {
    const reconcile = () => ({ kind: "committed", output: { other: 1 } });
    const { tool, keys } = toolOf([INTERRUPTIONS[interruption], works], { reconcile });
    const { outcome, record } = await resumeAfter(interruption, tool);
    expect(endOf(outcome as never)).toEqual(["OBSERVATION_NORMALIZATION_FAIL", "invalid_output"]);
    expect([keys.length, record.state]).toEqual([1, "COMPLETED"]);
  });

  test("a write that reconcile finds not committed runs again with its key, except after a timeout", async () => {
    const reconcile = () => ({ kind: "not_committed" });
    const { tool, keys } = toolOf([INTERRUPTIONS[interruption], works], { reconcile });
    const { outcome, record, bench } = await resumeAfter(interruption, tool);
    if (interruption === "timeout") {
      expect([outcome, keys.length, record.dispatches]).toEqual(["waiting", 1, 1]);
      return;
    }
    expect(outcome).toMatchObject({ ok: true, value: { text: "done" } });
    expect(record).toMatchObject({ state: "COMPLETED", dispatches: 2 });
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    const starts = bench.journal.events.filter(({ type }) => type === "tool_call_start");
    expect(starts.length).toBe(interruption === "crash" ? 0 : 1);
  });

  test("reconcile gets the arguments and the key of the write", async () => {
    const seen: unknown[] = [];
    const reconcile = (args: unknown, _context: unknown, scope: { idempotencyKey: string }) => {
      seen.push([args, scope.idempotencyKey]);
      return { kind: "unknown" };
    };
    const { tool, keys } = toolOf([INTERRUPTIONS[interruption]], { reconcile });
    await resumeAfter(interruption, tool);
    expect(seen).toEqual([[ARGS, keys[0]]]);
  });
});

describe("an error before reconcile leaves the outcome unknown", () => {
  test("of the broker", async () => {
    const connected = { requiresConnection: true, capabilities: ["auth"], reconcile: COMMITTED };
    const { tool } = toolOf([never], connected);
    const settings = {
      policy: {
        allowedTools: [NAME],
        grants: [{ connectionId: "mail", tools: [NAME] }],
      },
      connectionIds: ["mail"] as never,
    };
    const bind = () => Promise.resolve(ok({}) as never);
    const stored = await crashWhileRunning(tool, { ...settings, broker: { bind } });
    const broken = { bind: () => Promise.reject(new Error("s3cret")) };
    const bench = benchFor([tool], { ...settings, broker: broken, stored });
    expect(await bench.ask(NAME, ARGS, AT)).toBe("waiting");
    const open = benchFor([tool], { ...settings, broker: { bind }, stored });
    expect(await open.ask(NAME, ARGS, AT)).toMatchObject({ ok: true });
  });

  test("of the permission check", async () => {
    const { tool } = toolOf([never], { reconcile: COMMITTED });
    const stored = await crashWhileRunning(tool);
    const authorizationOf = () => ({ check: async () => "no_permission" as const });
    expect(await benchFor([tool], { authorizationOf, stored }).ask(NAME, ARGS, AT)).toBe("waiting");
  });
});
