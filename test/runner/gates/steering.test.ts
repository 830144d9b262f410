import { describe, expect, test } from "vitest";
import { ok } from "../../../src/protocol/outcome/result.ts";
import {
  benchFor,
  drainPromises,
  endOf,
  ledgerThat,
  passing,
} from "../../../src/testing/fakes/runner-ports.ts";
import { down } from "../answers.ts";
import { noteTool, readTool } from "../../shared/tools.ts";

test("a steering message that waits before the first gate skips the call", async () => {
  const { tool, reached } = noteTool();
  const { call, questions } = benchFor([tool], { inbox: { hasSteering: true } });
  expect(endOf(await call("test__note", { text: "hi" }))).toEqual(["STALE_STATE", "skipped"]);
  expect([reached, questions]).toEqual([[], []]);
});

test("a steering message that arrives during a gate skips the call", async () => {
  const inbox = { hasSteering: false };
  const { tool, reached } = noteTool({
    checkState: () => {
      inbox.hasSteering = true;
      return ok(null);
    },
  });
  const { call, reservations } = benchFor([tool], { inbox });
  expect(endOf(await call("test__note", { text: "hi" }))).toEqual(["STALE_STATE", "skipped"]);
  expect([reached.length, reservations.length]).toEqual([0, 0]);
});

test("a steering message that arrives during the reservation skips the call and releases the budget", async () => {
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

describe("while a call waits for its next attempt", () => {
  const inbox = { hasSteering: false };

  test("a steering message skips a call that was never dispatched", async () => {
    const { tool, reached } = noteTool({ runtime: { maxRetries: 1 } });
    const mail = { ...inbox };
    const { call, clock, journal } = benchFor([tool], {
      inbox: mail,
      ledgerAnswers: [{ kind: "rate_limited", retryAfterMs: 9_000 }],
    });
    const pending = call("test__note", { text: "hi" });
    await drainPromises();
    mail.hasSteering = true;
    const result = await passing(pending, clock);
    expect(endOf(result)).toEqual(["STALE_STATE", "skipped"]);
    expect(result.observation.execution_metadata.attempt_number).toBe(1);
    expect(reached).toEqual([]);
    expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
    // The gate that ended the call, not the one that refused the attempt before.
    const { reason, gates } = journal.audits.at(-1) ?? {};
    expect([reason, gates]).toEqual(["skipped", { passed: ["lookup"], refusedBy: "still_wanted" }]);
  });

  test("a steering message does not stop a call that was dispatched", async () => {
    const mail = { ...inbox };
    const { tool, keys } = readTool([() => down(), () => ok({ text: "up" })]);
    const { call, clock } = benchFor([tool], { inbox: mail });
    const pending = call("test__read", {});
    await drainPromises();
    mail.hasSteering = true;
    expect((await passing(pending, clock)).ok).toBe(true);
    expect(keys.length).toBe(2);
  });

  test("the withdrawal of its tool ends the call with its last outcome", async () => {
    const { tool, keys } = readTool([() => down(20_000)]);
    const { call, clock, runner } = benchFor([tool]);
    const pending = call("test__read", {}, { step: 1, id: "a" });
    await drainPromises();
    await call("test__read", { id: 7 }, { step: 2, id: "b" });
    await call("test__read", { id: 7 }, { step: 3, id: "c" });
    expect(runner.isWithdrawn("test__read")).toBe(true);
    const result = await passing(pending, clock);
    expect(endOf(result)).toEqual(["DEPENDENCY_UNAVAILABLE", "down"]);
    expect(keys.length).toBe(1);
  });
});
