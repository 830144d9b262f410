import { describe, expect, test } from "vitest";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { MemoryJournal } from "../../../src/testing/memory/memory-journal.ts";
import { benchFor, drainPromises, passing } from "../../../src/testing/fakes/runner-ports.ts";
import { never } from "../answers.ts";
import {
  ARGS,
  AT,
  COMMITTED,
  IDEMPOTENT,
  NAME,
  INTERRUPTIONS,
  failing,
  crashWhileRunning,
  recordOf,
  toolOf,
  works,
} from "./interrupted-call.ts";
import { AS_READ } from "../../shared/tools.ts";

describe("a run that is cancelled", () => {
  const expired = { ok: false, state: "EXPIRED", response: { escalate: true } };

  test("while a write runs ends it with an unknown outcome", async () => {
    const abort = new AbortController();
    const { tool } = toolOf([() => (abort.abort(), never())], { reconcile: COMMITTED });
    const bench = benchFor([tool]);
    const outcome = await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    expect(outcome).toMatchObject(expired);
    expect(recordOf(bench)).toMatchObject({ state: "EXPIRED", dispatches: 1 });
  });

  test("while a write runs does not reconcile it", async () => {
    const abort = new AbortController();
    const { tool } = toolOf([() => (abort.abort(), never())], { reconcile: COMMITTED });
    const bench = benchFor([tool]);
    await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    expect(bench.questions.length).toBe(1);
  });

  test("before the retry of an idempotent write reports the attempt with an unknown outcome", async () => {
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

  test("during reconcile ends the write with an unknown outcome", async () => {
    const abort = new AbortController();
    const reconcile = () => (abort.abort(), never());
    const { tool, keys } = toolOf([INTERRUPTIONS.throw, works], { reconcile });
    const bench = benchFor([tool]);
    expect(await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal })).toMatchObject(expired);
    expect([keys.length, bench.clock.waiting]).toEqual([1, 0]);
  });

  test("after reconcile finds the write not committed makes no further attempt", async () => {
    const abort = new AbortController();
    const reconcile = () => (queueMicrotask(() => abort.abort()), { kind: "not_committed" });
    const { tool, keys } = toolOf([INTERRUPTIONS.throw, works], { reconcile });
    const bench = benchFor([tool]);
    const outcome = await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    expect(outcome).toMatchObject({ ok: false });
    expect(keys.length).toBe(1);
    // Before the answer, a cancellation leaves an unknown outcome. After it, a failure.
    expect(["EXPIRED", "FAILED_FINAL", "FAILED_RETRYABLE"]).toContain(recordOf(bench).state);
  });

  test("during the backoff of an idempotent write ends it with an unknown outcome", async () => {
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
  ])(
    "before it resumes %s of an earlier incarnation ends it with an unknown outcome",
    async (_name, change) => {
      const { tool, keys } = toolOf([never, works], { ...change, reconcile: COMMITTED });
      const [left] = await crashWhileRunning(tool);
      const record = left as ToolInvocationRecord;
      for (const one of [record, { ...record, awaitedUntilMs: 9 }]) {
        const bench = benchFor([tool], { stored: [one] });
        const signal = AbortSignal.abort();
        expect(await bench.ask(NAME, ARGS, { ...AT, signal })).toMatchObject(expired);
      }
      expect(keys.length).toBe(1);
    },
  );

  test("before it resumes a read of an earlier incarnation ends it as a failure", async () => {
    const { tool } = toolOf([never, works], AS_READ);
    const bench = benchFor([tool], { stored: await crashWhileRunning(tool) });
    const outcome = await bench.ask(NAME, ARGS, { ...AT, signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ state: "FAILED_FINAL", response: { escalate: false } });
  });

  test("just before the dispatch of a write has no effect", async () => {
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
