import { describe, expect, test } from "vitest";
import type { Model } from "../../src/capabilities/model.ts";
import { newRunMemory } from "../../src/loop/run-memory.ts";
import type { RunPorts } from "../../src/loop/run-scope.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { passing, lenientPorts } from "../../src/testing/fakes/runner-ports.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { MemoryJournal } from "../../src/testing/memory/memory-journal.ts";
import { NO_TOOLS, policyOf } from "../../src/testing/fakes/fakes.ts";
import { CLAIM, MemoryInbox, answer, asks, playModel, voices } from "./steered-run.ts";

describe("a run", () => {
  function setRun(model: Model, policy: object = {}) {
    const journal = new MemoryJournal();
    const inbox = new MemoryInbox();
    const clock = new FakeClock();
    const loaded = { policy: policyOf({ allowedTools: [], ...policy }) };
    const ports: RunPorts = {
      ...lenientPorts(),
      model,
      journal,
      inbox,
      clock,
      policies: { load: async () => loaded, learn: () => {}, read: async () => loaded },
      source: NO_TOOLS,
    };
    const abort = new AbortController();
    const memory = newRunMemory(CLAIM.messages);
    const incarnation = { claim: CLAIM, memory, startedAtMs: clock.nowMs(), signal: abort.signal };
    const run = (): Promise<unknown> => passing(runLoop(incarnation, ports), clock);
    return { journal, inbox, clock, abort, run };
  }
  const endOf = ({ events }: MemoryJournal): unknown => events.at(-1);

  test("whose model stopped while mail waits takes another step", async () => {
    const { model, seen } = playModel(() => {
      bench.inbox.put("one more", "and another");
      return answer({ text: "bye" });
    });
    const bench = setRun(model);
    await bench.run();
    expect(seen.map((messages) => voices(messages))).toEqual([
      ["hi"],
      ["hi", "assistant", "one more", "and another"],
    ]);
    const steps = bench.journal.events.filter(({ type }) => type === "step_finished");
    expect(steps).toMatchObject([{ continued: true }, { continued: false }]);
    expect(endOf(bench.journal)).toMatchObject({ type: "done", reason: "stop" });
  });

  test("takes messages that arrived before its first step", async () => {
    const { model, seen } = playModel();
    const bench = setRun(model);
    bench.inbox.put("early");
    await bench.run();
    expect(seen.map((messages) => voices(messages))).toEqual([["hi", "early"]]);
  });

  test("takes no message that cannot be answered: after its end, and in its last step", async () => {
    const whenAsked: boolean[] = [];
    const { model } = playModel(
      ...[1, 2, 3].map(() => () => {
        whenAsked.push(bench.inbox.isClosed);
        return asks("a");
      }),
    );
    const bench = setRun(model, { budgets: { maxSteps: 2 } });
    await bench.run();
    expect(whenAsked).toEqual([false, true]);
    const steps = bench.journal.events.filter(({ type }) => type === "step_finished");
    expect(steps).toMatchObject([{ continued: true }, { continued: false }]);
    expect(endOf(bench.journal)).toMatchObject({ reason: "step_limit" });
    const second = setRun(playModel().model);
    await second.run();
    expect(second.inbox.isClosed).toBe(true);
  });

  test.each([
    [
      "fails",
      () => answer({ finish: "error", failure: { code: "upstream_malformed", detail: "" } }),
    ],
    ["is cancelled", undefined],
    [
      "breaks",
      () => {
        throw new Error("broken");
      },
    ],
  ])("that %s keeps what it was told in its transcript", async (_name, step) => {
    const { model } = playModel(() => {
      bench.inbox.put("lost?");
      if (step === undefined) bench.abort.abort("cancelled");
      return step ? step() : answer();
    });
    const bench = setRun(model);
    await bench.run();
    expect(bench.journal.messages.at(-1)).toEqual({ role: "user", text: "lost?" });
    expect(bench.inbox.isClosed).toBe(true);
    expect(endOf(bench.journal)).toMatchObject({ type: "done" });
  });
});
