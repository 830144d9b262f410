import { describe, expect, test } from "vitest";
import type { Model } from "../../src/capabilities/model.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { newRunMemory } from "../../src/loop/run-memory.ts";
import { declareModel } from "../../src/protocol/model/declare-model.ts";
import type { ModelAnswer } from "../../src/protocol/model/event.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { MemoryJournal } from "../../src/testing/memory/memory-journal.ts";
import { NO_TOOLS, policyOf } from "../../src/testing/fakes/fakes.ts";
import { ACME, ANN, lenientPorts, RUN_ID } from "../../src/testing/fakes/runner-ports.ts";
import { run } from "./budgeted-run.ts";

const modelOf = (id: string) =>
  declareModel({ id, wire: "openai" }, id === "m" ? ["spare", "last"] : []);
const SAID: ModelAnswer = {
  text: "ok",
  toolCalls: [],
  finish: "stop",
  usage: { inputTokens: 8, outputTokens: 2 },
};

/** A model of which these fail, and what was asked. */
function modelThat(failing: Readonly<Record<string, object>>) {
  const asked: string[] = [];
  const model: Model = {
    async *stream({ model: id }) {
      asked.push(id);
      const { [id]: why } = failing;
      const failure = { code: "upstream_status", detail: "", ...why } as const;
      const failed: ModelAnswer = { text: "", toolCalls: [], finish: "error", failure };
      yield [{ type: "answer", answer: why ? failed : SAID }];
    },
  };
  return { model, asked };
}

describe("a fallback", () => {
  test("is asked in its turn, and only the last model of the list again", async () => {
    const { model, asked } = modelThat({
      m: { status: 503 },
      spare: { status: 404 },
      last: { status: 503 },
    });
    const { journal } = await run({}, model, { modelOf });
    expect(asked).toEqual(["m", "spare", "last", "last", "last"]);
    expect(journal.events.filter(({ type }) => type === "model_changed")).toHaveLength(2);
  });

  test("is not asked beyond the run's model calls", async () => {
    const { model, asked } = modelThat({ m: { code: "upstream_truncated" } });
    const { done } = await run({ maxSteps: 1 }, model, { modelOf });
    expect(asked).toEqual(["m"]);
    expect(done).toMatchObject({ error: { code: "upstream_truncated" } });
  });

  test("is not asked, and not reported, when the budget has no room for it", async () => {
    const { model, asked } = modelThat({ m: { code: "upstream_truncated" } });
    const budgets = { maxTokens: 700, maxOutputTokens: 400 };
    const { done, journal } = await run(budgets, model, { modelOf, inputBound: () => 100 });
    expect([asked, done]).toMatchObject([["m"], { error: { code: "upstream_truncated" } }]);
    expect(journal.events.map(({ type }) => type)).not.toContain("model_changed");
    expect(journal.facts.answer).not.toHaveProperty("model");
  });

  test("keeps the run after a crash", async () => {
    const { model, asked } = modelThat({});
    const journal = new MemoryJournal();
    const claim: RunClaim = {
      runId: RUN_ID,
      principal: { tenantId: ACME, actorId: ANN, roles: [], scopes: [] },
      model: "m",
      messages: [{ role: "user", text: "hi" }],
    };
    const begun = newRunMemory(claim.messages);
    const usage = { inputTokens: 1, outputTokens: 1 };
    const answer = { step: 1, modelCall: 1, model: "spare", finish: "tool_calls", usage } as const;
    const memory = {
      ...begun,
      facts: { ...begun.facts, modelCalls: 1, answer },
      progress: { ...begun.progress, hasStarted: true, lastStep: 1, isContinued: true },
    };
    const loaded = {
      policy: policyOf({ allowedTools: [] }),
      pin: { revision: 1, hash: "sha256:1" },
    };
    const load = () => Promise.resolve(loaded);
    const ports = {
      ...lenientPorts(),
      clock: new FakeClock(),
      policies: { load, learn: () => {}, read: load },
      model,
      modelOf,
      journal,
      inbox: { hasSteering: false, takeAll: () => [], close: () => {} },
      source: NO_TOOLS,
    };
    const { signal } = new AbortController();
    await runLoop({ claim, memory, startedAtMs: 0, signal }, ports);
    expect(asked).toEqual(["spare"]);
    expect(journal.facts.answer).toMatchObject({ step: 2, model: "spare" });
  });
});
