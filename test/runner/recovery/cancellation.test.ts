import { describe, expect, test } from "vitest";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { MemoryJournal } from "../../fakes/fakes.ts";
import { benchFor, drainPromises, passing } from "../../fakes/runner-ports.ts";
import { never } from "../answers.ts";
import {
  ARGS,
  AT,
  COMMITTED,
  IDEMPOTENT,
  NAME,
  WAYS,
  failing,
  leave,
  recordOf,
  toolOf,
  works,
} from "./interrupted-call.ts";
import { AS_READ } from "../../shared/tools.ts";

describe("a run that is stopped", () => {
  const expired = { ok: false, state: "EXPIRED", response: { escalate: true } };

  test("while a write runs closes it in doubt", async () => {
    const abort = new AbortController();
    const { tool } = toolOf([() => (abort.abort(), never())], { reconcile: COMMITTED });
    const bench = benchFor([tool]);
    const outcome = await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    expect(outcome).toMatchObject(expired);
    expect(recordOf(bench)).toMatchObject({ state: "EXPIRED", dispatches: 1 });
  });

  test("while a write runs asks nobody what became of it", async () => {
    const abort = new AbortController();
    const { tool } = toolOf([() => (abort.abort(), never())], { reconcile: COMMITTED });
    const bench = benchFor([tool]);
    await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    expect(bench.questions.length).toBe(1);
  });

  test("while an idempotent write is about to be made again tells of the attempt in doubt", async () => {
    const abort = new AbortController();
    let checks = 0;
    const checkState = () => (++checks > 1 ? (abort.abort(), never()) : ok(null));
    const { tool } = toolOf([never], { ...IDEMPOTENT, checkState, runtime: { maxRetries: 1 } });
    const bench = benchFor([tool]);
    const pending = bench.call(NAME, ARGS, { ...AT, signal: abort.signal });
    const { observation, state } = await passing(pending, bench.clock);
    const { errors } = observation.result_payload;
    expect([state, observation.status.taxonomy_class]).toEqual(["EXPIRED", "TIMEOUT"]);
    expect(errors.map(({ code }) => code)).toEqual(["timeout", "outcome_unknown"]);
  });

  test("while the contract is asked closes it in doubt", async () => {
    const abort = new AbortController();
    const reconcile = () => (abort.abort(), never());
    const { tool, keys } = toolOf([WAYS.throw, works], { reconcile });
    const bench = benchFor([tool]);
    expect(await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal })).toMatchObject(expired);
    expect([keys.length, bench.clock.waiting]).toEqual([1, 0]);
  });

  test("after the contract said that nothing happened makes no attempt more", async () => {
    const abort = new AbortController();
    const reconcile = () => (queueMicrotask(() => abort.abort()), { kind: "not_committed" });
    const { tool, keys } = toolOf([WAYS.throw, works], { reconcile });
    const bench = benchFor([tool]);
    const outcome = await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    expect(outcome).toMatchObject({ ok: false });
    expect(keys.length).toBe(1);
    // Cancelled before the answer came, it is a doubt; after it, a failure.
    expect(["EXPIRED", "FAILED_FINAL", "FAILED_RETRYABLE"]).toContain(recordOf(bench).state);
  });

  test("while an idempotent write waits for its next attempt closes it in doubt", async () => {
    const abort = new AbortController();
    const { tool, keys } = toolOf([() => failing("TIMEOUT", { retryAfterMs: 20_000 }), works], {
      ...IDEMPOTENT,
      runtime: { maxRetries: 1 },
    });
    const bench = benchFor([tool]);
    const pending = bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    await drainPromises();
    abort.abort();
    expect(await pending).toMatchObject(expired);
    expect([keys.length, bench.clock.waiting]).toEqual([1, 0]);
  });

  test.each([
    ["a write", {}],
    ["an idempotent write", IDEMPOTENT],
  ])("before it takes up %s of an earlier life closes it in doubt", async (_name, change) => {
    const { tool, keys } = toolOf([never, works], { ...change, reconcile: COMMITTED });
    const [left] = await leave(tool);
    const record = left as ToolInvocationRecord;
    for (const one of [record, { ...record, awaitedUntilMs: 9 }]) {
      const bench = benchFor([tool], { stored: [one] });
      const signal = AbortSignal.abort();
      expect(await bench.ask(NAME, ARGS, { ...AT, signal })).toMatchObject(expired);
    }
    expect(keys.length).toBe(1);
  });

  test("before it takes up a read of an earlier life leaves no doubt", async () => {
    const { tool } = toolOf([never, works], AS_READ);
    const bench = benchFor([tool], { stored: await leave(tool) });
    const outcome = await bench.ask(NAME, ARGS, { ...AT, signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ state: "FAILED_FINAL", response: { escalate: false } });
  });

  test("just before a write begins had no effect", async () => {
    const abort = new AbortController();
    class Journal extends MemoryJournal {
      override secure(): Promise<void> {
        abort.abort();
        return super.secure();
      }
    }
    const { tool, keys } = toolOf([works]);
    const journal = new Journal();
    const bench = benchFor([tool], { journal });
    expect(await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal })).toMatchObject({
      state: "FAILED_FINAL",
      response: { escalate: false },
    });
    expect(keys).toEqual([]);
  });
});
