import { MemoryLog } from "../../src/testing/memory/memory-log.ts";
import { lenientPorts } from "../../src/testing/fakes/runner-ports.ts";
import { describe, expect, test } from "vitest";
import type { Model, ModelRequest } from "../../src/capabilities/model.ts";
import { CallIds } from "../../src/loop/calls/call-ids.ts";
import { ModelCalls } from "../../src/loop/model/model-calls.ts";
import { ModelBudget } from "../../src/loop/model/model-budget.ts";
import { reserveModelCall } from "../../src/loop/model/ask-model.ts";
import { denyAll } from "../../src/protocol/policy/document.ts";
import type { PolicyStore } from "../../src/capabilities/policy.ts";
import { RunBudget } from "../../src/runner/budget/of-run.ts";
import { runStep, takeSteering, type Step, type StepResult } from "../../src/loop/run-step.ts";
import type { RunScope } from "../../src/loop/run-scope.ts";
import { Transcript } from "../../src/loop/history/transcript.ts";
import { observeSuccess } from "../../src/protocol/outcome/observation.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { NO_USAGE } from "../../src/protocol/model/usage.ts";
import { NOT_DISPATCHED, respond } from "../../src/protocol/outcome/response-vector.ts";
import type { ToolExecResult } from "../../src/protocol/invocation/record.ts";
import { InvocationLedger } from "../../src/runner/invocation/invocation-ledger.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { MemoryJournal } from "../../src/testing/memory/memory-journal.ts";
import { CLAIM, MemoryInbox, answer, asks, playModel, voices } from "./steered-run.ts";

const FIRST: Step = { number: 1, hasBegun: false, answer: undefined };

/** Runs a step that nothing holds up. */
async function runWhole(scope: RunScope, step: Step): Promise<StepResult> {
  takeSteering(scope);
  const allowed = await reserveModelCall(scope);
  if (!allowed.ok) throw new Error("the step may not begin");
  const end = await runStep(scope, { ...step, allowance: allowed.value });
  if (end === "waiting") throw new Error("it waits for an operator");
  return end;
}

describe("a step", () => {
  function setStep(model: Model) {
    const journal = new MemoryJournal();
    const inbox = new MemoryInbox();
    const log: string[] = [];
    const gates = new Map<string, () => void>();
    let parts = 0;
    const scope: RunScope = {
      claim: CLAIM,
      model,
      modelCalls: new ModelCalls(journal, { made: 0, counted: 0 }, 20),
      modelBudget: new ModelBudget({
        ...lenientPorts(),
        journal,
        claim: CLAIM,
        policy: denyAll(),
        pin: undefined,
        policies: {} as PolicyStore,
        budget: new RunBudget({ policy: { budgets: {} } }),
      }),
      clock: new FakeClock(),
      random: { fraction: () => 0 },
      log: new MemoryLog(),
      tools: [],
      clientTools: [],
      prompt: ok([]),
      journal,
      inbox,
      callIds: new CallIds([]),
      signal: new AbortController().signal,
      modelOf: () => undefined,
      state: {
        transcript: new Transcript(journal, { messages: CLAIM.messages, claimedMessages: 1 }),
        invocations: new InvocationLedger(journal, []),
        usage: NO_USAGE,
        usedByOthers: {},
        model: CLAIM.model,
      },
      isPolicyLost: false,
      nextPart: () => parts++,
      runner: {
        isWithdrawn: () => false,
        async exec({ toolCallId }): Promise<ToolExecResult> {
          log.push(`start ${toolCallId}`);
          await new Promise<void>((resolve) => gates.set(toolCallId, resolve));
          log.push(`end ${toolCallId}`);
          const facts = { name: "t", version: "1", toolCallId, traceId: "r" };
          const observation = observeSuccess({ ...facts, startedAtMs: 0, endedAtMs: 1 }, {});
          const response = respond("SUCCESS", NOT_DISPATCHED);
          return { toolCallId, ok: true, observation, response, state: "COMPLETED" };
        },
      },
    };
    const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
    const finish = async (id: string): Promise<void> => {
      gates.get(id)?.();
      await settle();
    };
    return { scope, journal, inbox, log, settle, finish };
  }

  test("launches every call at once and remembers the results in the order asked", async () => {
    const bench = setStep(playModel(() => asks("a", "b", "c")).model);
    const step = runWhole(bench.scope, FIRST);
    await bench.settle();
    expect(bench.log).toEqual(["start a", "start b", "start c"]);
    await bench.finish("c");
    await bench.finish("a");
    expect(bench.journal.messages.map(({ role }) => role)).toEqual(["assistant", "tool"]);
    await bench.finish("b");
    expect((await step).continued).toBe(true);
    expect(bench.log.slice(3)).toEqual(["end c", "end a", "end b"]);
    const answered = bench.journal.messages.flatMap((message) =>
      message.role === "tool" ? [message.toolCallId] : [],
    );
    expect(answered).toEqual(["a", "b", "c"]);
  });

  test("closes the inbox exactly when nothing follows it", async () => {
    const last = setStep(playModel().model);
    expect((await runWhole(last.scope, FIRST)).continued).toBe(false);
    expect(last.inbox.isClosed).toBe(true);
    const step = setStep(playModel(() => asks("a")).model);
    const running = runWhole(step.scope, FIRST);
    await step.settle();
    await step.finish("a");
    await running;
    expect(step.inbox.isClosed).toBe(false);
  });

  test("shows the model no tool that was withdrawn", async () => {
    const shown: unknown[] = [];
    const model: Model = {
      async *stream({ tools }: ModelRequest) {
        shown.push(tools.map(({ name }) => name));
        yield [{ type: "answer", answer: answer() }];
      },
    };
    const { scope } = setStep(model);
    const tools = ["kept", "gone"].map((name) => ({ name })) as never;
    const runner = { ...scope.runner, isWithdrawn: (name: string) => name === "gone" };
    await runWhole({ ...scope, tools, runner }, FIRST);
    expect(shown).toEqual([["kept"]]);
  });

  test("remembers nothing of an answer that failed", async () => {
    const failed = { code: "upstream_malformed", detail: "" } as const;
    const broken = answer({ text: "half", finish: "error", failure: failed });
    const { scope, journal } = setStep(playModel(() => broken).model);
    await runWhole(scope, FIRST);
    expect(journal.messages).toEqual([]);
  });

  test("remembers a bounded amount of arguments, and those of later calls as none", async () => {
    const big = JSON.stringify({ text: "x".repeat(150_000) });
    const asked = asks("a", "b", "c");
    const toolCalls = asked.toolCalls.map((call, index) =>
      index < 2 ? { ...call, argumentsText: big } : call,
    );
    const bench = setStep(playModel(() => ({ ...asked, toolCalls })).model);
    const running = runWhole(bench.scope, FIRST);
    await bench.settle();
    const [message] = bench.journal.messages;
    const kept = message?.role === "assistant" ? message.toolCalls : [];
    expect(kept.map(({ argumentsText }) => argumentsText.length)).toEqual([big.length, 2, 2]);
    for (const id of ["a", "b", "c"]) await bench.finish(id);
    await running;
  });

  test("a message that comes while a tool runs waits for the results", async () => {
    const { model, seen } = playModel(() => asks("a", "b"));
    const bench = setStep(model);
    const first = runWhole(bench.scope, FIRST);
    await bench.settle();
    bench.inbox.put("hurry");
    expect(bench.inbox.hasSteering).toBe(true);
    await bench.finish("b");
    await bench.finish("a");
    expect((await first).continued).toBe(true);
    await runWhole(bench.scope, { ...FIRST, number: 2 });
    expect(voices(seen[1])).toEqual(["hi", "assistant", "tool", "tool", "hurry"]);
    expect(bench.journal.messages).toEqual(bench.scope.state.transcript.messages.slice(1));
  });
});
