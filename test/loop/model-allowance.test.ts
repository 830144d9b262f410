import { describe, expect, test } from "vitest";
import type { Model } from "../../src/capabilities/model.ts";
import type { ModelAnswer } from "../../src/protocol/model/event.ts";
import { MemoryJournal } from "../../src/testing/memory/memory-journal.ts";
import { ledgerThat, drainPromises, type Closed } from "../../src/testing/fakes/runner-ports.ts";
import { run, asking } from "./budgeted-run.ts";

describe("what a model call may use", () => {
  const inputBound = (): number => 100;

  /** A model that answers in answer, and what it was asked for. */
  function modelOf(...answers: Partial<ModelAnswer>[]) {
    const asked: (number | undefined)[] = [];
    const model: Model = {
      async *stream({ maxOutputTokens }) {
        asked.push(maxOutputTokens);
        const answer = answers.shift() ?? { finish: "stop", toolCalls: [] };
        yield [{ type: "answer", answer: { ...asking(asked.length), ...answer } }];
      },
    };
    return { model, asked };
  }
  const failing = (code: "upstream_status" | "upstream_truncated"): Partial<ModelAnswer> => ({
    finish: "error",
    toolCalls: [],
    failure: { code, detail: "", ...(code === "upstream_status" && { status: 503 }) },
    usage: undefined as never,
  });
  const untold = { usage: undefined as never };

  test("is what is left, down to an answer that is of use", async () => {
    const { model, asked } = modelOf({ usage: { inputTokens: 90, outputTokens: 400 } });
    const { done } = await run({ maxTokens: 1_000 }, model, { inputBound });
    expect(asked).toEqual([900, 410]);
    expect(done).toMatchObject({ reason: "stop" });
    const most = modelOf();
    await run({ maxTokens: 100_000, maxOutputTokens: 50 }, most.model, { inputBound });
    expect(most.asked).toEqual([50]);
    const none = modelOf();
    await run({ maxTokens: 355 }, none.model, { inputBound });
    expect(none.asked).toEqual([]);
  });

  test("is what the tenant has granted", async () => {
    const { model, asked } = modelOf();
    const ledger = ledgerThat(async () => ({ kind: "reserved", granted: { tokens: 440 } }));
    const tenantBudgets = { maxTokens: 1_000 };
    await run({}, model, { inputBound, ledger, tenantBudgets });
    expect(asked).toEqual([340]);
  });

  test("is used up when the provider reports no usage, or the answer breaks off", async () => {
    const told = modelOf(untold);
    await run({ maxTokens: 1_000, maxOutputTokens: 500 }, told.model, { inputBound });
    expect(told.asked).toEqual([500, 300]);
    const broken = modelOf(failing("upstream_truncated"));
    await run({ maxTokens: 1_000, maxOutputTokens: 500 }, broken.model, { inputBound });
    expect(broken.asked).toEqual([500, 300]);
    const zero = modelOf({ usage: { inputTokens: 0, outputTokens: 0 } });
    await run({ maxTokens: 1_000, maxOutputTokens: 500 }, zero.model, { inputBound });
    expect(zero.asked).toEqual([500, 300]);
  });

  test("is given back when the provider refuses, under an id that no other attempt has", async () => {
    const { model, asked } = modelOf(failing("upstream_status"), failing("upstream_status"));
    const closed: Closed[] = [];
    const ids: string[] = [];
    const ledger = ledgerThat(async ({ id }) => (ids.push(id), { kind: "reserved" }), closed);
    const tenantBudgets = { maxTokens: 10_000 };
    await run({ maxTokens: 700, maxOutputTokens: 600 }, model, {
      inputBound,
      ledger,
      tenantBudgets,
    });
    expect(asked).toEqual([600, 600, 600]);
    expect(ids).toEqual(["run_1/model/1.0", "run_1/model/1.1", "run_1/model/1.2"]);
    expect(closed).toEqual([
      ["run_1/model/1.0", "released"],
      ["run_1/model/1.1", "released"],
      ["run_1/model/1.2", { tokens: 10 }],
    ]);
  });

  test("may be too little for another attempt; then the run ends with what the provider said", async () => {
    const { model, asked } = modelOf(failing("upstream_truncated"));
    const { done } = await run({ maxTokens: 700, maxOutputTokens: 400 }, model, { inputBound });
    expect(asked).toEqual([400]);
    expect(done).toMatchObject({ error: { code: "upstream_truncated" } });
  });

  test("is given back when the run is stopped before it is asked", async () => {
    const stop = new AbortController();
    const closed: Closed[] = [];
    const { model, asked } = modelOf();
    const ledger = ledgerThat(async () => (stop.abort("cancelled"), { kind: "reserved" }), closed);
    const { done } = await run({}, model, { stop, ledger, tenantBudgets: { maxTokens: 9_000 } });
    expect([asked, done]).toMatchObject([[], { reason: "cancelled" }]);
    expect(closed).toEqual([["run_1/model/1.0", "released"]]);
  });

  test("is told the tenant before the run has ended", async () => {
    const told: string[] = [];
    let tell = (): void => {};
    const ledger = {
      ...ledgerThat(async () => ({ kind: "reserved" })),
      settle: () => new Promise<void>((resolve) => (tell = resolve)),
    };
    const { model } = modelOf({ finish: "stop", toolCalls: [] });
    const ended = run({}, model, { ledger, tenantBudgets: { maxTokens: 9_000 } }).then(() =>
      told.push("ended"),
    );
    await drainPromises();
    told.push("heard");
    tell();
    await ended;
    expect(told).toEqual(["heard", "ended"]);
  });

  test("is stored before the model is asked, and what it used together with what it said", async () => {
    const seen: unknown[] = [];
    const { model, asked } = modelOf();
    const journal = new MemoryJournal();
    const looking: Model = {
      async *stream(request, signal) {
        seen.push(journal.facts.tokens, journal.facts.reservation);
        yield* model.stream(request, signal);
      },
    };
    await run({ maxTokens: 1_000, maxOutputTokens: 500 }, looking, { inputBound, journal });
    const id = "run_1/model/1.0";
    expect(seen).toEqual([600, { id, modelCall: 1, tokens: 600, maxOutputTokens: 500 }]);
    expect([asked, journal.facts.tokens]).toEqual([[500], 10]);
  });
});
