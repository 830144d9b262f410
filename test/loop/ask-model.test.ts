import { describe, expect, test } from "vitest";
import type { Model } from "../../src/capabilities/model.ts";
import type { RunPorts } from "../../src/loop/run-scope.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { newRunMemory } from "../../src/loop/run-memory.ts";
import type { ModelEvent, ModelFailure } from "../../src/protocol/model/event.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { MemoryJournal } from "../../src/testing/memory/memory-journal.ts";
import { NO_TOOLS, policyOf } from "../../src/testing/fakes/fakes.ts";
import {
  ACME,
  ANN,
  lenientPorts,
  passing,
  RUN_ID,
  drainPromises,
} from "../../src/testing/fakes/runner-ports.ts";

const CLAIM: RunClaim = {
  runId: RUN_ID,
  principal: { tenantId: ACME, actorId: ANN, roles: [], scopes: [] },
  model: "m",
  messages: [{ role: "user", text: "hi" }],
};
const usage = { inputTokens: 8, outputTokens: 2 };

type Answer = readonly ModelEvent[];
const says = (text: string): Answer => [
  { type: "text_delta", text },
  { type: "answer", answer: { text, toolCalls: [], finish: "stop", usage } },
];
const breaks = (code: ModelFailure["code"], more: object = {}, said = ""): Answer => {
  const { used, ...why } = more as { used?: typeof usage };
  const failure = { code, detail: "s3cret", ...why };
  return [
    ...(said === "" ? [] : [{ type: "text_delta", text: said } as const]),
    {
      type: "answer",
      answer: { text: said, toolCalls: [], finish: "error", failure, ...(used && { usage: used }) },
    },
  ];
};

interface Circumstances extends Partial<RunPorts> {
  readonly maxSteps?: number;
  readonly stop?: AbortController;
}

/** Runs a model whose answers follow each other; the last one repeats. */
function begin(answers: readonly Answer[], more: Circumstances = {}) {
  const { maxSteps = 20, stop = new AbortController(), ...replaced } = more;
  const journal = new MemoryJournal();
  const clock = new FakeClock();
  const atMs: number[] = [];
  const counted: unknown[] = [];
  const model: Model = {
    async *stream() {
      const answer = answers[Math.min(atMs.length, answers.length - 1)] ?? [];
      atMs.push(clock.nowMs());
      counted.push(journal.facts.modelCalls);
      for (const event of answer) yield [event];
    },
  };
  const loaded = {
    policy: policyOf({ allowedTools: [], budgets: { maxSteps } }),
    pin: { revision: 1, hash: "sha256:1" },
  };
  const ports: RunPorts = {
    ...lenientPorts(),
    model,
    journal,
    clock,
    inbox: { hasSteering: false, takeAll: () => [], close: () => {} },
    policies: { load: async () => loaded, learn: () => {}, read: async () => loaded },
    source: NO_TOOLS,
    ...replaced,
  };
  const memory = newRunMemory(CLAIM.messages);
  const startMs = clock.nowMs();
  const incarnation = { claim: CLAIM, memory, startedAtMs: startMs, signal: stop.signal };
  const ended = runLoop(incarnation, ports);
  const gapsMs = () => atMs.slice(1).map((at, index) => at - (atMs[index] ?? 0));
  return { ended, journal, clock, stop, counted, gapsMs, calls: () => atMs.length };
}

async function run(answers: readonly Answer[], more: Circumstances = {}) {
  const run = begin(answers, more);
  await passing(run.ended, run.clock, 250);
  return { ...run, done: run.journal.events.at(-1) };
}

const typesOf = ({ events }: MemoryJournal) => events.map(({ type }) => type);

describe("a provider's failure that may pass", () => {
  test.each([
    ["too many requests", breaks("upstream_status", { status: 429 })],
    ["a timeout of its own", breaks("upstream_status", { status: 408 })],
    ["too early", breaks("upstream_status", { status: 425 })],
    ["its own trouble", breaks("upstream_status", { status: 500 })],
    ["an overload", breaks("upstream_status", { status: 529 })],
    ["no connection", breaks("upstream_unreachable")],
    ["a broken connection", breaks("upstream_truncated", {}, "half")],
    ["silence", breaks("upstream_stalled", {}, "half")],
  ])("is asked again after %s, three times in all", async (_name, answer) => {
    const twice = await run([answer, answer, says("ok")]);
    expect(twice.done).toMatchObject({ reason: "stop" });
    expect(twice.gapsMs()).toEqual([500, 1_000]);
    const always = await run([answer]);
    expect([always.calls(), always.done]).toMatchObject([3, { reason: "error" }]);
    expect(always.clock.waiting).toBe(0);
    expect(JSON.stringify(always.journal.events)).not.toContain("s3cret");
  });

  test.each([
    ["a bad request", breaks("upstream_status", { status: 400 })],
    ["a wrong key", breaks("upstream_status", { status: 401 })],
    ["an unknown model", breaks("upstream_status", { status: 404 })],
    ["an odd status", breaks("upstream_status", { status: 499 })],
    ["a status of nothing", breaks("upstream_status")],
    ["an answer that is no stream", breaks("upstream_not_a_stream")],
    ["an error in the stream", breaks("upstream_error_event")],
    ["garbled data", breaks("upstream_malformed")],
    ["too much of it", breaks("upstream_too_large")],
    ["a break of our own", breaks("aborted")],
  ])("is not %s: that comes again", async (_name, answer) => {
    const { calls, done, clock } = await run([answer, says("ok")]);
    expect([calls(), clock.waiting]).toEqual([1, 0]);
    expect(done).not.toMatchObject({ reason: "stop" });
  });
});

describe("the time between two attempts", () => {
  const busy = (retryAfterSeconds: number) =>
    breaks("upstream_status", { status: 429, retryAfterSeconds });

  test("is what the provider asks for", async () => {
    const { gapsMs } = await run([busy(7), says("ok")]);
    expect(gapsMs()).toEqual([7_000]);
  });

  test("is at least the usage without its report", async () => {
    const { gapsMs } = await run([busy(0), busy(0), says("ok")]);
    expect(gapsMs()).toEqual([500, 1_000]);
  });

  test("is spread by chance", async () => {
    const { gapsMs } = await run([busy(0), busy(0), says("ok")], {
      random: { fraction: () => 0.5 },
    });
    expect(gapsMs()).toEqual([750, 1_500]);
  });

  test.each([
    [29, 2],
    [30, 2],
    [31, 1],
    [86_400, 1],
  ])("of %i seconds makes %i attempts", async (seconds, attempts) => {
    const { calls } = await run([busy(seconds), says("ok")]);
    expect(calls()).toBe(attempts);
  });
});

test("half an answer is closed, then withdrawn, before the next one streams on its own part", async () => {
  const { journal } = await run([breaks("upstream_stalled", {}, "half"), says("whole")]);
  expect(journal.events.slice(2, -2)).toEqual([
    { type: "text_started", part: 0 },
    { type: "text_delta", part: 0, text: "half" },
    { type: "text_finished", part: 0 },
    { type: "text_withdrawn", parts: [0] },
    { type: "text_started", part: 1 },
    { type: "text_delta", part: 1, text: "whole" },
    { type: "text_finished", part: 1 },
  ]);
  expect(journal.messages).toEqual([{ role: "assistant", text: "whole", toolCalls: [] }]);
});

test("half an answer that is the last one stays, because no other replaces it", async () => {
  const { journal } = await run([breaks("upstream_stalled", {}, "half")]);
  const types = typesOf(journal);
  expect(types.filter((type) => type === "text_withdrawn").length).toBe(2);
  expect(types.filter((type) => type === "text_started").length).toBe(3);
  expect(types.slice(-3)).toEqual(["text_finished", "step_finished", "done"]);
});

test("an attempt that said nothing leaves nothing to withdraw", async () => {
  const { journal } = await run([breaks("upstream_unreachable"), says("ok")]);
  expect(typesOf(journal)).not.toContain("text_withdrawn");
});

describe("of the run's model calls", () => {
  // With so few of them none is counted ahead.
  const few = { maxSteps: 5 };

  test("each one is counted before it is made, and a refused one is given back", async () => {
    const refused = breaks("upstream_status", { status: 503 });
    const answers = [refused, breaks("upstream_unreachable"), says("ok")];
    const { counted, journal } = await run(answers, few);
    expect(counted).toEqual([1, 1, 1]);
    expect(journal.facts).toMatchObject({ modelCalls: 1, answer: { modelCall: 1 } });
  });

  test("one that began to answer is used up", async () => {
    const { counted, journal } = await run([breaks("upstream_stalled"), says("ok")], few);
    expect(counted).toEqual([1, 2]);
    expect(journal.facts).toMatchObject({ modelCalls: 2, answer: { modelCall: 2 } });
  });

  test.each([1, 2])("no more than %i are made where policy allows no more", async (maxSteps) => {
    const { calls, done } = await run([breaks("upstream_stalled", {}, "half")], { maxSteps });
    expect(calls()).toBe(maxSteps);
    expect(done).toMatchObject({ reason: "error", error: { code: "upstream_stalled" } });
  });

  test("a refusal at the limit may be asked again", async () => {
    const refused = breaks("upstream_status", { status: 503 });
    const { calls, done } = await run([refused, says("ok")], { maxSteps: 1 });
    expect([calls(), done]).toMatchObject([2, { reason: "stop" }]);
  });

  test("what a broken one used counts", async () => {
    const { done, journal } = await run([
      breaks("upstream_truncated", { used: usage }),
      breaks("upstream_truncated"),
      says("ok"),
    ]);
    expect(done).toMatchObject({ usage: { inputTokens: 16, outputTokens: 4 } });
    expect(journal.facts.answer).toMatchObject({ usage: { inputTokens: 16, outputTokens: 4 } });
  });
});

describe("a run that is stopped", () => {
  test("while it waits for its next attempt ends at once", async () => {
    const answer = breaks("upstream_status", { status: 429, retryAfterSeconds: 20 });
    const { ended, stop, clock, calls, journal } = begin([answer, says("ok")]);
    await drainPromises();
    expect(clock.waiting).toBe(1);
    stop.abort("cancelled");
    expect(await ended).toBe("ended");
    expect([calls(), clock.waiting]).toEqual([1, 0]);
    expect(journal.events.at(-1)).toMatchObject({ type: "done", reason: "cancelled" });
  });

  test("while its provider fails waits for nothing", async () => {
    const stop = new AbortController();
    const random = { fraction: () => (stop.abort("time"), 0) };
    const { ended, clock, calls, journal } = begin([breaks("upstream_stalled")], { stop, random });
    expect(await ended).toBe("ended");
    expect([calls(), clock.waiting]).toEqual([1, 0]);
    expect(journal.events.at(-1)).toMatchObject({ error: { code: "budget_exhausted" } });
  });

  test("leaves no listener behind", async () => {
    const stop = new AbortController();
    const { signal } = stop;
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
    signal.removeEventListener = (...args: Parameters<typeof add>) => (
      listeners--,
      remove(...args)
    );
    await run([breaks("upstream_stalled"), says("ok")], { stop });
    expect(listeners).toBe(0);
  });
});

test("a model that breaks its contract ends the run, and its part is closed", async () => {
  const broken: Model = {
    async *stream() {
      yield [{ type: "text_delta", text: "half" }];
      throw new Error("s3cret");
    },
  };
  const silent: Model = {
    async *stream() {
      yield [{ type: "text_delta", text: "half" }];
    },
  };
  for (const model of [broken, silent]) {
    const { journal, done } = await run([], { model });
    expect(done).toMatchObject({ reason: "error", error: { code: "internal_error" } });
    expect(typesOf(journal).filter((type) => type === "text_finished").length).toBe(1);
    expect(JSON.stringify(journal.events)).not.toContain("s3cret");
  }
});
