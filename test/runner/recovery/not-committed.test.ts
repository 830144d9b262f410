import { describe, expect, test } from "vitest";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { benchFor, drainPromises, passing } from "../../../src/testing/fakes/runner-ports.ts";
import { never } from "../answers.ts";
import {
  ARGS,
  AT,
  NAME,
  INTERRUPTIONS,
  resumeAfter,
  failing,
  crashWhileRunning,
  recordOf,
  toolOf,
  works,
} from "./interrupted-call.ts";

const lost = () => failing("DEPENDENCY_UNAVAILABLE");

describe("a write that reconcile repeatedly finds not committed", () => {
  const change = { reconcile: () => ({ kind: "not_committed" }) };

  test.each([
    [0, 2],
    [1, 2],
    [3, 4],
  ])("fails as retryable with %i retries after %i attempts", async (retries, ran) => {
    const { tool, keys } = toolOf([lost], { ...change, runtime: { maxRetries: retries } });
    const { outcome, record } = await resumeAfter("throw", tool);
    expect(keys.length).toBe(ran);
    expect(record).toMatchObject({ state: "FAILED_RETRYABLE", dispatches: ran });
    expect(outcome).toMatchObject({ ok: false, response: { escalate: false, retryable: true } });
    const { errors } = (outcome as Exclude<typeof outcome, string>).observation.result_payload;
    expect(errors.map(({ code }) => code)).toEqual(["no", "not_committed"]);
  });

  test("has no unknown outcome after that answer", async () => {
    let checks = 0;
    const checkState = () => (++checks > 1 ? never() : ok(null));
    const { tool } = toolOf([INTERRUPTIONS.throw], { ...change, checkState });
    const bench = benchFor([tool]);
    void bench.ask(NAME, ARGS, AT);
    await drainPromises();
    expect([checks, recordOf(bench)]).toMatchObject([2, { state: "FAILED_RETRYABLE" }]);
  });

  test("uses the retries of the run", async () => {
    const { tool, keys } = toolOf([lost], { ...change, runtime: { maxRetries: 9 } });
    const policy = { allowedTools: [NAME], budgets: { maxRetries: 2 } };
    const { record } = await resumeAfter("throw", tool, { policy });
    expect([keys.length, record.state]).toEqual([3, "FAILED_RETRYABLE"]);
  });

  test("counts the attempts of earlier incarnations", async () => {
    const { tool, keys } = toolOf([never], change);
    const [left] = await crashWhileRunning(tool);
    const stored = [{ ...(left as ToolInvocationRecord), dispatches: 4 }];
    const bench = benchFor([tool], { stored });
    await passing(bench.ask(NAME, ARGS, AT), bench.clock);
    expect(keys.length).toBe(1);
    expect(recordOf(bench)).toMatchObject({ state: "FAILED_RETRYABLE", dispatches: 4 });
  });
});

test("a write that did not happen and waits for a retry is retried after a crash", async () => {
  const nothing = failing("DEPENDENCY_UNAVAILABLE", { notCommitted: true });
  const { tool, keys } = toolOf([() => nothing, works], { runtime: { maxRetries: 1 } });
  const first = benchFor([tool]);
  void first.ask(NAME, ARGS, AT);
  await drainPromises();
  expect(first.journal.records).toMatchObject([{ state: "FAILED_RETRYABLE", dispatches: 1 }]);
  const bench = benchFor([tool], { stored: first.journal.records });
  expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toMatchObject({ ok: true });
  expect(recordOf(bench)).toMatchObject({ state: "COMPLETED", dispatches: 2 });
  expect(new Set(keys).size).toBe(1);
});

test("a gate that fails after an attempt without effect leaves nothing to reconcile", async () => {
  const nothing = failing("DEPENDENCY_UNAVAILABLE", { notCommitted: true });
  const { tool } = toolOf([() => nothing], { runtime: { maxRetries: 1 } });
  const bench = benchFor([tool], {
    ledgerAnswers: [{ kind: "reserved" }, { kind: "unavailable" }],
  });
  const outcome = await passing(bench.ask(NAME, ARGS, AT), bench.clock);
  expect(outcome).toMatchObject({ response: { escalate: false, next_action: "retry_later" } });
  expect(recordOf(bench).state).toBe("FAILED_RETRYABLE");
});
