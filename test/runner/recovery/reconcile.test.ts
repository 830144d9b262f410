import { describe, expect, test } from "vitest";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { benchFor, endOf } from "../../fakes/runner-ports.ts";
import { never } from "../answers.ts";
import {
  ARGS,
  AT,
  COMMITTED,
  NAME,
  WAYS,
  bringAbout,
  leave,
  toolOf,
  works,
} from "./interrupted-call.ts";

const UNSURE = {
  unknown: { reconcile: () => ({ kind: "unknown" }) },
  throwing: { reconcile: WAYS.throw },
  rejecting: { reconcile: () => Promise.reject(new Error("s3cret")) },
  hanging: { reconcile: never },
  nonsense: { reconcile: () => ({ kind: "perhaps" }) },
  nothing: { reconcile: () => undefined },
  none: {},
} as const;

describe.each(["timeout", "throw", "crash"] as const)("after a %s", (way) => {
  test.each(Object.entries(UNSURE))(
    "a write whose reconcile is %s waits for an operator, and did its work once",
    async (_name, change) => {
      const { tool, keys } = toolOf([WAYS[way], works], change);
      const { outcome, bench, record } = await bringAbout(way, tool);
      expect(outcome).toBe("waiting");
      expect(keys.length).toBe(1);
      expect(record).toMatchObject({ state: "PENDING", dispatches: 1 });
      expect(record.end).toBeUndefined();
      const untilMs = record.awaitedUntilMs ?? 0;
      expect(bench.journal.events.at(-1)).toMatchObject({ type: "tool_call_waiting", untilMs });
      // The wait begins now: the operator has the whole of it.
      expect(untilMs).toBe(bench.clock.nowMs() + 60_000);
      expect(JSON.stringify(bench.journal.events)).not.toContain("s3cret");
    },
  );

  test("a write that is found committed is completed with what was found, and not repeated", async () => {
    const { tool, keys } = toolOf([WAYS[way], works], { reconcile: COMMITTED });
    const { outcome, record } = await bringAbout(way, tool);
    expect(keys.length).toBe(1);
    expect(record).toMatchObject({ state: "COMPLETED", dispatches: 1 });
    expect(outcome).toMatchObject({
      ok: true,
      value: { text: "found" },
      observation: { execution_metadata: { idempotency_hit: true } },
    });
  });

  test("a write that is found committed with an output that fits no contract happened all the same", async () => {
    const reconcile = () => ({ kind: "committed", output: { other: 1 } });
    const { tool, keys } = toolOf([WAYS[way], works], { reconcile });
    const { outcome, record } = await bringAbout(way, tool);
    expect(endOf(outcome as never)).toEqual(["OBSERVATION_NORMALIZATION_FAIL", "invalid_output"]);
    expect([keys.length, record.state]).toEqual([1, "COMPLETED"]);
  });

  test("a write that is found not committed is made once more, under the same key, unless it may still act", async () => {
    const reconcile = () => ({ kind: "not_committed" });
    const { tool, keys } = toolOf([WAYS[way], works], { reconcile });
    const { outcome, record, bench } = await bringAbout(way, tool);
    // Mutant: an attempt that was left behind is taken for one that is over.
    if (way === "timeout") {
      expect([outcome, keys.length, record.dispatches]).toEqual(["waiting", 1, 1]);
      return;
    }
    expect(outcome).toMatchObject({ ok: true, value: { text: "done" } });
    expect(record).toMatchObject({ state: "COMPLETED", dispatches: 2 });
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    const starts = bench.journal.events.filter(({ type }) => type === "tool_call_start");
    expect(starts.length).toBe(way === "crash" ? 0 : 1);
  });

  test("what is asked what became of a write has the key of the write, and asks alone", async () => {
    const seen: unknown[] = [];
    const reconcile = (args: unknown, _context: unknown, scope: { idempotencyKey: string }) => {
      seen.push([args, scope.idempotencyKey]);
      return { kind: "unknown" };
    };
    const { tool, keys } = toolOf([WAYS[way]], { reconcile });
    await bringAbout(way, tool);
    expect(seen).toEqual([[ARGS, keys[0]]]);
  });
});

describe("what breaks on the way to the contract's answer answers nothing", () => {
  test("the broker", async () => {
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
    const stored = await leave(tool, { ...settings, broker: { bind } });
    const broken = { bind: () => Promise.reject(new Error("s3cret")) };
    const bench = benchFor([tool], { ...settings, broker: broken, stored });
    expect(await bench.ask(NAME, ARGS, AT)).toBe("waiting");
    const open = benchFor([tool], { ...settings, broker: { bind }, stored });
    expect(await open.ask(NAME, ARGS, AT)).toMatchObject({ ok: true });
  });

  test("the permission", async () => {
    const { tool } = toolOf([never], { reconcile: COMMITTED });
    const stored = await leave(tool);
    const authorizationOf = () => ({ check: async () => "no_permission" as const });
    expect(await benchFor([tool], { authorizationOf, stored }).ask(NAME, ARGS, AT)).toBe("waiting");
  });
});
